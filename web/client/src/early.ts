// Keys pressed before what they are for is here: the recording, or the code
// of a view. They are kept in their order and pressed again when it is, so
// that a reader who knows the keys need not wait to see that they work.

/** More than this many are a key held down, not a plan. */
const MOST = 24;

export class EarlyKeys {
  private kept: KeyboardEvent[] = [];

  keep(e: KeyboardEvent): void {
    if (this.kept.length < MOST) this.kept.push(e);
    e.preventDefault();
  }

  drop(): void { this.kept = []; }

  /** replay presses what was kept, each on what has the focus by then; it stops where goes says that something else is awaited. */
  replay(focused: () => EventTarget, goes: () => boolean): void {
    while (this.kept.length && goes()) {
      const e = this.kept.shift()!;
      focused().dispatchEvent(new KeyboardEvent('keydown', { key: e.key, code: e.code, shiftKey: e.shiftKey, ctrlKey: e.ctrlKey, altKey: e.altKey, metaKey: e.metaKey, bubbles: true, composed: true, cancelable: true }));
    }
  }
}
