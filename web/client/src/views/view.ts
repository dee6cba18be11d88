// What a view is. Each view is one file that exports a ViewKind; the registry
// beside this file lists them. A view draws the recording at a playhead and
// may move it; it does not know about panels, URLs or keys.
import type { Measure } from '../layout';
import type { Beat } from '../player';
import type { Recording } from '../recording';
import type { State } from '../state';

export interface Table { caption: string; head: string[]; rows: (string | number)[][]; now?: number }

/** Something that a view finds for the palette, and how to go there. */
export interface Found { label: string; hint: string; letter: string; go(): void }

export interface ViewContext {
  readonly recording: Recording;
  readonly state: State;
  readonly measure: Measure;
  readonly scale: number;
  readonly narrow: boolean;
  readonly motion: boolean;
  set(s: State): void;
  say(text: string): void;
  /** ask for a new drawing when something changed that is not in the state, such as who owns the arrows */
  draw(): void;
}

export interface View {
  /** draw the recording at the state of the context; called after every change and resize */
  update(): void;
  /** a command of this view; true when it was one */
  command?(id: string): boolean;
  /** what the step card shows while this view is up, as HTML; null: the step */
  card?(): string | null;
  /** the next beat of play where the view has its own; undefined leaves it to the walk, null is the end */
  beat?(d: 1 | -1, speed: number): Beat | null | undefined;
  /** the strip below the stage where the view has its own, as SVG; groups carry data-step and, where it matters, data-layer. null: the steps */
  strip?(w: number, h: number, byTime: boolean): string | null;
  /** what the view has for a query of the palette, beside steps and commands */
  hits?(query: string): Found[];
  /** who owns the arrows, when it is not the walk */
  owner?(): string | null;
  /** the same content as a table: for readers, exports and print */
  table(): Table;
  /** the view as a picture of its own, or null where it has none */
  svg?(): string | null;
  canvas?(): HTMLCanvasElement | null;
  /** it waits for data, so that its keys do not work yet */
  busy?(): boolean;
  destroy(): void;
}

export interface ViewKind {
  n: number;
  id: string;
  title: string;
  /** why this recording cannot be shown so, in one line, or null when it can */
  missing(r: Recording): string | null;
  mount?(body: HTMLElement, ctx: ViewContext): View;
  /** fetches the view's code where it is not here yet: the same kind with its mount */
  load?(): Promise<ViewKind>;
}
