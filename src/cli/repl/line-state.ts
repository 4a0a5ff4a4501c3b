// What a line editor remembers between two keys, as a value, and the changes that keep it consistent.
import { foldOf, isLong, mostFolds, unfolded, withLineFeeds } from './line-text.ts';

export interface LineState {
  /** Long pastes are folded in it (line-text.ts). */
  readonly text: string;
  /** An offset in the text, between two code points; mostly on the border of a character as a person sees it. */
  readonly cursor: number;
  readonly pastes: readonly string[];
  /** The text begins with what was pasted: then a slash or `"""` at its start is no more than what it is. */
  readonly startsPasted: boolean;
  /** What Ctrl-Y puts back. */
  readonly killed: string;
  readonly lastAction: 'type' | 'kill' | 'paste' | 'other';
  readonly undo: readonly Pick<LineState, 'text' | 'cursor' | 'startsPasted'>[];
  /** Where in the history the line comes from, and the line that was left for it. */
  readonly browsing: { readonly index: number; readonly draft: Draft } | null;
  readonly search: Search | null;
  /** True between Ctrl-X and the key that follows it. */
  readonly prefix: boolean;
}

export type Draft = Pick<LineState, 'text' | 'cursor' | 'startsPasted'>;

/** Ctrl-R: what is looked for, and the entry found (an index of the history), null for none. */
export interface Search {
  readonly query: string;
  readonly found: number | null;
  readonly draft: Draft;
}

const mostUndo = 200;
const longPaste = { lines: 6, characters: 1000 };
/** A line that comes back, from the history or after a failure, is there to be edited: it is folded later. */
const longLine = { lines: 40, characters: 8000 };

export const emptyLine: LineState = {
  text: '',
  cursor: 0,
  pastes: [],
  startsPasted: false,
  killed: '',
  lastAction: 'other',
  undo: [],
  browsing: null,
  search: null,
  prefix: false,
};

/** A new line, the cursor at its end. What was killed before can still be put back. */
export function lineOf(text: string, before: LineState = emptyLine): LineState {
  const killed = unfolded(before.killed, before.pastes);
  const { pastes } = before;
  if (!isLong(text, longLine) || pastes.length >= mostFolds) {
    return { ...emptyLine, text, cursor: text.length, pastes, killed };
  }
  return { ...emptyLine, text: foldOf(pastes.length), cursor: 1, pastes: [...pastes, text], killed };
}

/** Replaces a part of the text; the cursor stands behind what is put there. */
export function replaced(state: LineState, from: number, to: number, text: string): LineState {
  const { text: before, cursor, startsPasted, undo } = state;
  const next = before.slice(0, from) + text + before.slice(to);
  return {
    ...state,
    text: next,
    cursor: from + text.length,
    startsPasted: startsPasted && from > 0,
    lastAction: 'other',
    undo: next === before ? undo : [...undo.slice(-mostUndo), { text: before, cursor, startsPasted }],
    browsing: null,
  };
}

export function moved(state: LineState, cursor: number): LineState {
  return { ...state, cursor, lastAction: 'other' };
}

/** Takes a part of the text away, to be put back by Ctrl-Y; kills in a row are put back together. */
export function killed(state: LineState, from: number, to: number): LineState {
  if (from === to) return state;
  const part = state.text.slice(from, to);
  const joins = state.lastAction === 'kill';
  const together = to <= state.cursor ? part + state.killed : state.killed + part;
  return { ...replaced(state, from, to, ''), killed: joins ? together : part, lastAction: 'kill' };
}

/** Puts a paste in at the cursor, folded if it is long. */
export function pasted(state: LineState, paste: string): LineState {
  const whole = withLineFeeds(paste);
  if (whole === '') return state;
  const folds = isLong(whole, longPaste) && state.pastes.length < mostFolds;
  const next = replaced(state, state.cursor, state.cursor, folds ? foldOf(state.pastes.length) : whole);
  return {
    ...next,
    pastes: folds ? [...state.pastes, whole] : state.pastes,
    startsPasted: state.cursor === 0 || state.startsPasted,
    lastAction: 'paste',
  };
}

/** The line as a line of the history, or an editor, may hold it: whole, and a slash that is none escaped. */
export function asTyped({ text, pastes, startsPasted }: LineState): string {
  const whole = unfolded(text, pastes);
  return startsPasted && whole.startsWith('/') ? `/${whole}` : whole;
}

/** What was typed meanwhile, on a line of its own behind what comes back. */
export function behind(initial: string, typed: LineState): LineState {
  const state = lineOf(initial, typed);
  if (typed.text === '') return state;
  return replaced(state, state.text.length, state.text.length, `\n${typed.text}`);
}
