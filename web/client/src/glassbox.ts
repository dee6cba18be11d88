// The bundle: registers the custom elements. Nothing else happens on load.
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
