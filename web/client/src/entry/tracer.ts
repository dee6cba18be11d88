// The script of a page that is a tracer. Views come when they are first shown.
import { Tracer } from '../tracer';

if (!customElements.get('glassbox-tracer')) customElements.define('glassbox-tracer', Tracer);
