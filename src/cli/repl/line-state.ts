// The state of a line editor between two keys, as a value, and the changes that keep it consistent.
import { withoutLastNewlines } from '../end-of-text.ts';
import {
  escapeSlash,
  expanded,
  type FoldSize,
  foldOf,
  isLong,
  literal,
  mostFolds,
  plain,
  withLineFeeds,
} from './line-text.ts';
import { isOpen, readingOf } from './typed-line.ts';

export interface LineState {
  /** The text as it is edited, with private units for folded pastes and literal characters (line-text.ts). */
  readonly text: string;
  /** An offset in the text, between two code points and usually between two graphemes. */
  readonly cursor: number;
  readonly pastes: readonly string[];
  /** The text that Ctrl-Y inserts. */
  readonly killed: string;
  readonly lastAction: 'type' | 'kill' | 'other';
  readonly undo: readonly Draft[];
  /** The history line that is shown, and the draft that it replaced. */
  readonly browsing: { readonly index: number; readonly draft: Draft } | null;
  readonly search: Search | null;
  /** True between Ctrl-X and the next key. */
  readonly prefix: boolean;
}

export type Draft = Pick<LineState, 'text' | 'cursor'>;

/** A search with Ctrl-R: the text that is looked for, and the index of the line found in the history. Null for none. */
export interface Search {
  readonly query: string;
  readonly found: number | null;
  readonly draft: Draft;
}

const mostUndo = 200;
/** The size of a paste that is folded, and of a line of the history, which may have been one. */
export const longPaste: FoldSize = { lines: 6, characters: 1000 };
/** A message that comes back after a failure is folded only from this size on, because a person wants to edit it. */
const longLine = { lines: 40, characters: 8000 };

export const emptyLine: LineState = {
  text: '',
  cursor: 0,
  pastes: [],
  killed: '',
  lastAction: 'other',
  undo: [],
  browsing: null,
  search: null,
  prefix: false,
};

export function draftOf({ text, cursor }: LineState): Draft {
  return { text, cursor };
}

/**
 * A new line with the text of a line from the history, or of one that comes back. Its message is literal text, so it stays a message
 * however it is edited. The cursor stands behind the message. Ctrl-Y still inserts what was killed before.
 */
export function lineOf(typed: string, before: LineState = emptyLine, size: FoldSize = longLine): LineState {
  const { pastes } = before;
  const line = { ...emptyLine, killed: expanded(before.killed, pastes), pastes };
  if (isOpen(typed)) return { ...line, text: typed, cursor: typed.length };
  const { from, to, isCommand } = readingOf(typed);
  const head = !isCommand && typed.startsWith('/') ? escapeSlash : typed.slice(0, from);
  const content = typed.slice(from, to);
  const folds = isLong(content, size) && pastes.length < mostFolds;
  const shown = head + (folds ? foldOf(pastes.length) : literal(content));
  return {
    ...line,
    text: shown + typed.slice(to),
    cursor: shown.length,
    pastes: folds ? [...pastes, content] : pastes,
  };
}

/** Replaces a part of the text. The cursor stands behind the new part. */
export function replaced(state: LineState, from: number, to: number, text: string): LineState {
  const next = state.text.slice(0, from) + text + state.text.slice(to);
  return {
    ...state,
    text: next,
    cursor: from + text.length,
    lastAction: 'other',
    undo: next === state.text ? state.undo : [...state.undo.slice(-mostUndo), draftOf(state)],
    browsing: null,
  };
}

export function inserted(state: LineState, text: string): LineState {
  return replaced(state, state.cursor, state.cursor, text);
}

export function moved(state: LineState, cursor: number): LineState {
  return { ...state, cursor, lastAction: 'other' };
}

/** Removes a part of the text, for Ctrl-Y. Parts killed in a row are inserted together. */
export function killed(state: LineState, from: number, to: number): LineState {
  if (from === to) return state;
  const part = state.text.slice(from, to);
  const together = to <= state.cursor ? part + state.killed : state.killed + part;
  const joins = state.lastAction === 'kill';
  return { ...replaced(state, from, to, ''), killed: joins ? together : part, lastAction: 'kill' };
}

/** Inserts a paste at the cursor, folded if it is long. */
export function pasted(state: LineState, paste: string): LineState {
  const whole = withLineFeeds(paste);
  if (whole === '') return state;
  if (!isLong(whole, longPaste) || state.pastes.length === mostFolds) return inserted(state, literal(whole));
  const { pastes } = state;
  return { ...inserted(state, foldOf(pastes.length)), pastes: [...pastes, whole] };
}

/** The text that was typed before the prompt stood, without the line ends after it. */
export function typedAhead(state: LineState): LineState {
  const { length } = withoutLastNewlines(plain(state.text));
  return { ...state, text: state.text.slice(0, length), cursor: Math.min(state.cursor, length) };
}

/** A line that comes back, followed by what was typed meanwhile on a line of its own. */
export function behind(initial: string, typed: LineState): LineState {
  const state = lineOf(initial, typed);
  return typed.text === '' ? state : inserted(state, `\n${typed.text}`);
}
