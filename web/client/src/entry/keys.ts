// The script of documentation pages: the table of keys, for static/page.js.
import '../roomcommands';
import { commandTable } from '../commands';

Object.assign(globalThis, { glassbox: { commandTable } });
