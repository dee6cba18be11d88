// The script of the first page: the prompt over a recording, and pictures of
// it. The tracer comes when a request is traced.
import { Hero } from '../hero';
import { Picture } from '../picture';

for (const [name, el] of [['glassbox-hero', Hero], ['glassbox-picture', Picture]] as const) if (!customElements.get(name)) customElements.define(name, el);
