// Why a recording cannot be shown in a view, in one line, or null when it
// can. Kept apart from the views, so that the tabs know before their code is
// here.
import type { Recording } from '../recording';
import { memoryOf } from './memory-data';

/** hasArray tells whether the recording lists an array, wherever its values are. */
export const hasArray = (r: Recording, name: string): boolean => !!r.file.arrays && name in r.file.arrays;

type Missing = (r: Recording) => string | null;

/** The arrays of the lens that every recording with one has. */
export const LENS_NEEDED: readonly string[] = ['lens_ids', 'lens_logprob'];

/** opSteps are the steps of the forward pass, in the order of the walk. */
export const opSteps = (r: Recording): number[] => r.roles.flatMap((q, i) => (q.op ? [i] : []));
export const hasLens = (r: Recording): boolean => LENS_NEEDED.every((n) => hasArray(r, n));

const ours = (r: Recording): string | null => (r.file.engine.name === 'glassbox' ? null : 'not in this recording: this engine does not hand it out');

export const noOps: Missing = (r) => (r.passes.length && opSteps(r).length ? null : 'not in this recording: it has no passes with ops');
export const noAttention: Missing = (r) => (hasArray(r, 'attention') ? null : ours(r));
export const noLens: Missing = (r) => (hasLens(r) ? null : ours(r));
export const noMemory: Missing = (r) => (memoryOf(r) ? null : 'not in this recording: it does not say what happened to the cache');
export const noSpans: Missing = (r) => (r.spans.length || r.live ? null : 'not in this recording: it has no spans');
/** SAVED is true in the one script for saved pages and pages of others: there is no server that has the maps of modules. */
declare const SAVED: boolean | undefined;
/** Engines whose map of modules ships with the site. */
export const MAPPED: readonly string[] = ['vllm', 'sglang', 'glassbox'];
export const noModules: Missing = (r) => (!MAPPED.includes(r.file.engine.name) ? 'not for this recording: no map of its engine ships' : typeof SAVED !== 'undefined' && SAVED ? 'not in a saved page: its map comes from the server' : null);
export const stillRunning: Missing = (r) => (r.live ? 'the request is still running' : null);
