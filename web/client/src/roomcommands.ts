// The commands of a workshop's pages. They join the one list where they are
// needed: those pages, and the table in the docs.
import { COMMANDS, type Command } from './commands';

const ROOM: readonly Command[] = [
  { id: 'room.back', group: 'Workshop', title: 'Follower: let go of the teacher, and come back', keys: ['Backspace'], when: 'follower' },
  { id: 'room.panel', group: 'Workshop', title: 'Follower: the exercises', keys: ['Shift+J'], when: 'follower' },
  { id: 'room.gather', group: 'Workshop', title: 'Teacher: everyone here', keys: ['Shift+E'], when: 'teacher' },
  { id: 'room.qr', group: 'Workshop', title: 'Teacher: the address and its QR code, large', keys: ['Shift+Q'], when: 'teacher' },
  { id: 'room.tasks', group: 'Workshop', title: 'Teacher: open or close the exercises', keys: ['Shift+J'], when: 'teacher' },
  { id: 'room.notes', group: 'Workshop', title: 'Teacher: notes for this step', keys: ['Shift+Y'], when: 'teacher' },
];

for (const c of ROOM) if (!COMMANDS.some((k) => k.id === c.id)) COMMANDS.push(c);
