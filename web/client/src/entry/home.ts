// The script of the first page: the prompt over a recording. The tracer comes
// when a request is traced.
import { Hero } from '../hero';

if (!customElements.get('glassbox-hero')) customElements.define('glassbox-hero', Hero);
