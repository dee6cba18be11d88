// Everything in one classic script, for one-file exports and for pages of
// others. Our own pages load the modules of entry/ instead. It registers the
// custom elements; nothing else happens on load.
import { COMMANDS, commandTable } from './commands';
import { Hero } from './hero';
import { Picture } from './picture';
import { Recording } from './recording';
import { Tracer } from './tracer';

for (const [name, el] of [['glassbox-tracer', Tracer], ['glassbox-hero', Hero], ['glassbox-picture', Picture]] as const) {
  if (!customElements.get(name)) customElements.define(name, el);
}

/** For scripts of a page: parse a recording, list the commands. */
Object.assign(globalThis, { glassbox: { Recording, COMMANDS, commandTable } });
