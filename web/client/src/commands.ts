// The one list of commands. The key handler, the ? sheet, the palette and the
// table in the docs are all made from it.

export type Group = 'Walk' | 'Depth' | 'Play' | 'Views' | 'Timeline' | 'Pass and tape' | 'Attention and lens' | 'Modules' | 'Compare' | 'Stop and touch' | 'Find' | 'Workshop' | 'Page';

export interface Command {
  id: string;
  group: Group;
  title: string;
  /** Keys as KeyboardEvent.key, or as code:… for keys known by their place. Mod is Ctrl or Cmd. */
  keys: string[];
  /** ids of views, with spaces between: only while one of them is shown; paused: while the engine stands still; teacher, follower: in a workshop */
  when?: string;
  /** not offered in the palette */
  hidden?: boolean;
}

export const COMMANDS: Command[] = [
  { id: 'next', group: 'Walk', title: 'Next step at this depth', keys: ['ArrowRight'] },
  { id: 'prev', group: 'Walk', title: 'Previous step at this depth', keys: ['ArrowLeft'] },
  { id: 'first', group: 'Walk', title: 'First step', keys: ['Home'] },
  { id: 'last', group: 'Walk', title: 'Last step', keys: ['End'] },
  { id: 'stage.next', group: 'Walk', title: 'Next stage', keys: ['PageDown'] },
  { id: 'stage.prev', group: 'Walk', title: 'Previous stage', keys: ['PageUp'] },
  { id: 'token.next', group: 'Walk', title: 'Next token', keys: ['n'] },
  { id: 'token.prev', group: 'Walk', title: 'Previous token', keys: ['p'] },
  { id: 'same.next', group: 'Walk', title: 'Next time the same step runs', keys: ['.'] },
  { id: 'same.prev', group: 'Walk', title: 'Previous time the same step ran', keys: [','] },
  { id: 'into', group: 'Depth', title: 'Step into: token, layer, kernel', keys: ['ArrowDown'] },
  { id: 'out', group: 'Depth', title: 'Step out', keys: ['ArrowUp'] },
  { id: 'open', group: 'Depth', title: 'Open: next line of the source chain, or zoom to the span', keys: ['Enter'] },
  { id: 'escape', group: 'Depth', title: 'Close, then clear the selection, then back to steps', keys: ['Escape'] },
  { id: 'play', group: 'Play', title: 'Play or pause', keys: [' '] },
  { id: 'play.back', group: 'Play', title: 'Play backwards', keys: ['Shift+ '] },
  { id: 'speed', group: 'Play', title: 'Speed: 1x, 2x, 4x, 0.5x', keys: ['v'] },
  { id: 'view.1', group: 'Views', title: 'Request', keys: ['1'] },
  { id: 'view.2', group: 'Views', title: 'Pass', keys: ['2'] },
  { id: 'view.3', group: 'Views', title: 'Tape', keys: ['3'] },
  { id: 'view.4', group: 'Views', title: 'Attention', keys: ['4'] },
  { id: 'view.5', group: 'Views', title: 'Lens', keys: ['5'] },
  { id: 'why.slow', group: 'Views', title: 'Why slow? The critical path of the request', keys: ['Shift+I'] },
  { id: 'why', group: 'Views', title: 'Why this token? The lens at the word being made', keys: ['i'] },
  { id: 'view.6', group: 'Views', title: 'Timeline', keys: ['6'] },
  { id: 'view.7', group: 'Views', title: 'Memory', keys: ['7'] },
  { id: 'view.8', group: 'Views', title: 'Modules', keys: ['8'] },
  { id: 'view.9', group: 'Views', title: 'Compare', keys: ['9'] },
  { id: 'map.whole', group: 'Views', title: 'Map of a long walk: all of it, or a window at full size', keys: ['f'], when: 'request' },
  { id: 'zoom.in', group: 'Timeline', title: 'Zoom in', keys: ['+', '='], when: 'timeline modules' },
  { id: 'zoom.out', group: 'Timeline', title: 'Zoom out', keys: ['-'], when: 'timeline modules' },
  { id: 'zoom.fit', group: 'Timeline', title: 'The whole request, the whole map', keys: ['0'], when: 'timeline modules' },
  { id: 'time.in', group: 'Timeline', title: 'Zoom in, by place of the key', keys: ['code:KeyW'], when: 'timeline modules' },
  { id: 'time.out', group: 'Timeline', title: 'Zoom out, by place of the key', keys: ['code:KeyS'], when: 'timeline modules' },
  { id: 'time.left', group: 'Timeline', title: 'Earlier; to the left', keys: ['code:KeyA'], when: 'timeline modules' },
  { id: 'time.right', group: 'Timeline', title: 'Later; to the right', keys: ['code:KeyD'], when: 'timeline modules' },
  { id: 'focus', group: 'Timeline', title: 'Centre the selection, again: fit it', keys: ['f'], when: 'timeline modules' },
  { id: 'layer.prev', group: 'Pass and tape', title: 'Layer before', keys: ['['], when: 'pass tape' },
  { id: 'layer.next', group: 'Pass and tape', title: 'Layer after', keys: [']'], when: 'pass tape' },
  { id: 'pass.scope', group: 'Pass and tape', title: 'Times of all layers, or of the one under the dial', keys: ['a'], when: 'pass' },
  { id: 'pass.kind', group: 'Pass and tape', title: 'Decode or prefill', keys: ['d'], when: 'pass tape' },
  { id: 'pass.beside', group: 'Pass and tape', title: 'Ops of another engine beside ours, where they were timed', keys: ['w'], when: 'pass' },
  { id: 'tape.sum', group: 'Pass and tape', title: 'Work the number under the row out by hand', keys: ['h'], when: 'tape' },
  { id: 'tape.width', group: 'Pass and tape', title: 'Tiles as wide as their bytes, or as their time', keys: ['w'], when: 'tape' },
  { id: 'tape.kind', group: 'Pass and tape', title: 'Picture of the largest weights, or of their means', keys: ['m'], when: 'tape' },
  { id: 'value.copy', group: 'Pass and tape', title: 'Copy the value under the cursor', keys: ['c'], when: 'pass tape attention lens compare' },
  { id: 'grid.order', group: 'Attention and lens', title: 'Next order of the heads; next colour of the words', keys: ['s'], when: 'attention lens' },
  { id: 'grid.mean', group: 'Attention and lens', title: 'One head or means; rows after attention too', keys: ['a'], when: 'attention lens' },
  { id: 'grid.scale', group: 'Attention and lens', title: 'Square root or linear', keys: ['u'], when: 'attention' },
  { id: 'grid.first', group: 'Attention and lens', title: 'First token shown or hidden', keys: ['h'], when: 'attention' },
  { id: 'grid.word', group: 'Attention and lens', title: 'Writers of the next leading word', keys: ['w'], when: 'lens' },
  { id: 'grid.second', group: 'Attention and lens', title: 'Writers against the next leading word, or against none', keys: ['h'], when: 'lens' },
  { id: 'grid.panes', group: 'Attention and lens', title: 'Heads and map, heads alone, map alone', keys: ['w'], when: 'attention' },
  { id: 'map.from', group: 'Modules', title: 'Begin a path at the marked module, or end it', keys: ['m'], when: 'modules' },
  { id: 'map.edges', group: 'Modules', title: 'Imports: of the marked module, all, none', keys: ['u'], when: 'modules' },
  { id: 'ablate', group: 'Compare', title: 'Knock out: run again without a part of the model, side by side', keys: ['Shift+K'] },
  { id: 'compare.times', group: 'Compare', title: 'Times of a decode pass, of the prefill, of steps outside passes', keys: ['d'], when: 'compare' },
  { id: 'compare.with', group: 'Compare', title: 'Hold against another recording', keys: ['w'], when: 'compare' },
  { id: 'stop.set', group: 'Stop and touch', title: 'Set or clear a stop here, for the next Trace', keys: ['b'] },
  { id: 'stop.trace', group: 'Stop and touch', title: 'Trace this request again, with the stops that are set', keys: ['Shift+B'] },
  { id: 'stop.clear', group: 'Stop and touch', title: 'Clear all stops', keys: [] },
  { id: 'halt.continue', group: 'Stop and touch', title: 'While it stands still: go on, to the next stop', keys: ['o'], when: 'paused', hidden: true },
  { id: 'halt.op', group: 'Stop and touch', title: 'While it stands still: to the next op', keys: ['j'], when: 'paused', hidden: true },
  { id: 'halt.layer', group: 'Stop and touch', title: 'While it stands still: to the same op of the next layer', keys: ['k'], when: 'paused', hidden: true },
  { id: 'halt.run', group: 'Stop and touch', title: 'While it stands still: run to the end, without further stops', keys: ['Shift+O'], when: 'paused', hidden: true },
  { id: 'halt.hold', group: 'Stop and touch', title: 'While it stands still: start its time limit anew', keys: ['Shift+H'], when: 'paused', hidden: true },
  { id: 'halt.edit', group: 'Stop and touch', title: 'While it stands still: type a value; Enter sets it', keys: ['e'], when: 'paused', hidden: true },
  { id: 'halt.scale', group: 'Stop and touch', title: 'While it stands still: multiply the chosen values', keys: ['Shift+M'], when: 'paused', hidden: true },
  { id: 'halt.zero', group: 'Stop and touch', title: 'While it stands still: zero the chosen values', keys: ['Shift+N'], when: 'paused', hidden: true },
  { id: 'halt.block', group: 'Stop and touch', title: 'While it stands still: choose the whole head', keys: ['Shift+U'], when: 'paused', hidden: true },
  { id: 'halt.all', group: 'Stop and touch', title: 'While it stands still: choose all values', keys: ['Shift+A'], when: 'paused', hidden: true },
  { id: 'find', group: 'Find', title: 'Search steps, ops, tokens, commands', keys: ['/', 'Mod+k'] },
  { id: 'goto', group: 'Find', title: 'Go to a step by its number', keys: ['g'] },
  { id: 'source', group: 'Page', title: 'Show or hide the source', keys: ['l'] },
  { id: 'source.folder', group: 'Page', title: 'Show source code from a folder of mine', keys: [] },
  { id: 'table', group: 'Page', title: 'Show or hide the table of this view', keys: ['r'] },
  { id: 'copy', group: 'Page', title: 'Copy a link to exactly this', keys: ['y'] },
  { id: 'theme', group: 'Page', title: 'Light or dark', keys: ['t'] },
  { id: 'max', group: 'Page', title: 'Maximise the view, or back', keys: ['z'] },
  { id: 'max.card', group: 'Page', title: 'Maximise the step card, or back', keys: ['Shift+Z'] },
  { id: 'width', group: 'Page', title: 'Strip: equal widths or true time', keys: ['q'] },
  { id: 'export.svg', group: 'Page', title: 'Save this view as a picture', keys: ['x'] },
  { id: 'export.png', group: 'Page', title: 'Save this view as a picture of pixels (PNG)', keys: [] },
  { id: 'export.csv', group: 'Page', title: 'Save this view as a table (CSV)', keys: ['Shift+X'] },
  { id: 'presenter', group: 'Page', title: 'Presenter: large type, larger type, back', keys: ['Shift+F'] },
  { id: 'letters', group: 'Page', title: 'Single letters on or off', keys: [] },
  { id: 'help', group: 'Page', title: 'This sheet', keys: ['?'] },
];

const NAMES: Record<string, string> = {
  ArrowRight: '→', ArrowLeft: '←', ArrowDown: '↓', ArrowUp: '↑', ' ': 'Space', Escape: 'Esc', PageDown: 'PgDn', PageUp: 'PgUp', Enter: '↵', Backspace: '⌫',
};

/** keyName is a key as it is printed on a keyboard. */
export function keyName(k: string): string {
  return k.split(/(?<=.)\+(?=.)/).map((part) => NAMES[part] ?? (part.startsWith('code:Key') ? part.slice(8) : part.length === 1 && /[a-z]/.test(part) ? part : part)).join(' ');
}

export interface KeyLike { key: string; code: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean }

/** isLetter: keys that a reader can switch off (WCAG 2.1.4). Arrows, Space, Enter, Esc, Home, End, PgUp, PgDn stay. */
export const isLetter = (k: string): boolean => k.startsWith('code:') || (k !== ' ' && k !== 'Shift+ ' && !k.startsWith('Mod+') && (k.replace(/^Shift\+/, '').length === 1));

function matches(k: string, e: KeyLike): boolean {
  if (k.startsWith('Mod+')) return (e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === k.slice(4).toLowerCase();
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  if (k.startsWith('code:')) return e.code === k.slice(5) && !e.shiftKey;
  if (k.startsWith('Shift+')) return e.shiftKey && e.key.toLowerCase() === k.slice(6).toLowerCase();
  const plain = k === ' ' || k.length > 1 || /[a-z]/.test(k);
  return e.key === k && (!plain || !e.shiftKey);
}

/** commandFor finds the command of a key press, or null: then the key stays the browser's. */
export function commandFor(e: KeyLike, ctx: { view: string; letters: boolean; paused?: boolean; room?: string }): Command | null {
  for (const c of COMMANDS) {
    if (c.when && !c.when.split(' ').some((w) => w === ctx.view || w === ctx.room || (w === 'paused' && ctx.paused))) continue;
    for (const k of c.keys) if ((ctx.letters || !isLetter(k)) && matches(k, e)) return c;
  }
  return null;
}

/** Rows for the table in the docs. */
export const commandTable = (): { group: string; keys: string; title: string; where: string }[] =>
  COMMANDS.map((c) => ({ group: c.group, keys: c.keys.map(keyName).join(', ') || 'palette', title: c.title, where: c.when ?? 'everywhere' }));
