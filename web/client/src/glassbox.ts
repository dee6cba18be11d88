// Everything that a tracer needs in one classic script, for one-file exports
// and for pages of others. Our own pages load the modules of entry/ instead.
// It registers the custom element; nothing else happens on load.
import { COMMANDS, commandTable } from './commands';
import { Recording } from './recording';
import { Tracer } from './tracer';

if (!customElements.get('glassbox-tracer')) customElements.define('glassbox-tracer', Tracer);

/** For scripts of a page: parse a recording, list the commands. */
Object.assign(globalThis, { glassbox: { Recording, COMMANDS, commandTable } });
