// The script of a workshop's pages: the tracer, and who goes where.
import '../roomcommands';
import { RoomPage } from '../room';
import { Tracer } from '../tracer';

if (!customElements.get('glassbox-tracer')) customElements.define('glassbox-tracer', Tracer);
new RoomPage();
