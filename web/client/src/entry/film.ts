// The script of the film: a tracer, and what plays it.
import { Film } from '../film';
import { Tracer } from '../tracer';

for (const [name, el] of [['glassbox-tracer', Tracer], ['glassbox-film', Film]] as const) if (!customElements.get(name)) customElements.define(name, el);
