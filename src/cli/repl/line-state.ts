// The state of a line editor between two keys, as a value, and the changes that keep it consistent.
import { withoutLastNewlines } from '../end-of-text.ts';
import {
  escapeSlash,
  expandFolds,
  type FoldSize,
  foldOf,
  isLong,
  literal,
  maxFolds,
  plain,
  withLineFeeds,
} from './line-text.ts';
import { isOpen, mentionsIn, parseLine } from './typed-line.ts';

export interface LineState {
  /** The text as it is edited, with private units for folded pastes and literal characters (line-text.ts). */
  readonly text: string;
  /** An offset in the text, between two code points and usually between two graphemes. */
  readonly cursor: number;
  readonly pastes: readonly string[];
  /** The text that was cut. Ctrl-Y inserts it. */
  readonly killedText: string;
  readonly lastAction: 'type' | 'kill' | 'other';
  readonly undo: readonly Draft[];
  /** The history line that is shown, and the draft that it replaced. */
  readonly browsing: { readonly index: number; readonly draft: Draft } | null;
  readonly search: Search | null;
  /** True between Ctrl-X and the next key. */
  readonly prefix: boolean;
}

type Draft = Pick<LineState, 'text' | 'cursor'>;

/** A search with Ctrl-R. */
export interface Search {
  readonly query: string;
  /** The index of the found line in the history. Null for none. */
  readonly found: number | null;
  readonly draft: Draft;
}

const maxUndo = 200;
/** From this size on, a paste is folded, and so is a line of the history, which may have been a paste. */
export const longPaste: FoldSize = { lines: 6, characters: 1000 };
/** A message that returns after a failure is folded only from this size on, because the user may want to edit it. */
const longLine = { lines: 40, characters: 8000 };

export const emptyLine: LineState = {
  text: '',
  cursor: 0,
  pastes: [],
  killedText: '',
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
 * A new line with the text of a line from the history, or of a message that returns to the prompt. The message is literal text, so it
 * stays a message however it is edited; it still names its files. The cursor is after the message. Ctrl-Y still inserts the text that was
 * cut before.
 */
export function lineOf(typed: string, before: LineState = emptyLine, size: FoldSize = longLine): LineState {
  let { pastes } = before;
  const line = { ...emptyLine, killedText: expandFolds(before.killedText, pastes), pastes };
  if (isOpen(typed)) return { ...line, text: typed, cursor: typed.length };
  const parsed = parseLine(typed);
  const { from, to, isCommand } = parsed;
  const head = !isCommand && typed.startsWith('/') ? escapeSlash : typed.slice(0, from);
  let [shown, end] = [head, from];
  const add = (text: string) => {
    const folds = isLong(text, size) && pastes.length < maxFolds;
    shown += folds ? foldOf(pastes.length) : literal(text);
    if (folds) pastes = [...pastes, text];
  };
  for (const mention of mentionsIn(parsed)) {
    add(plain(typed.slice(end, from + mention.from)));
    end = from + mention.to;
    shown += `@${literal(typed.slice(from + mention.from + 1, end))}`;
  }
  add(plain(typed.slice(end, to)));
  return { ...line, text: shown + typed.slice(to), cursor: shown.length, pastes };
}

/** Replaces a part of the text, and puts the cursor after the new part. */
export function replaceText(state: LineState, from: number, to: number, text: string): LineState {
  const next = state.text.slice(0, from) + text + state.text.slice(to);
  return {
    ...state,
    text: next,
    cursor: from + text.length,
    lastAction: 'other',
    undo: next === state.text ? state.undo : [...state.undo.slice(-maxUndo), draftOf(state)],
    browsing: null,
  };
}

export function insertText(state: LineState, text: string): LineState {
  return replaceText(state, state.cursor, state.cursor, text);
}

export function moveCursor(state: LineState, cursor: number): LineState {
  return { ...state, cursor, lastAction: 'other' };
}

/** Removes a part of the text and keeps it for Ctrl-Y. Parts that are cut one after the other are joined. */
export function killText(state: LineState, from: number, to: number): LineState {
  if (from === to) return state;
  const part = state.text.slice(from, to);
  const joined = to <= state.cursor ? part + state.killedText : state.killedText + part;
  const joins = state.lastAction === 'kill';
  return { ...replaceText(state, from, to, ''), killedText: joins ? joined : part, lastAction: 'kill' };
}

/** Inserts a paste at the cursor, folded if it is long. */
export function insertPaste(state: LineState, paste: string): LineState {
  const text = withLineFeeds(paste);
  if (text === '') return state;
  if (!isLong(text, longPaste) || state.pastes.length === maxFolds) return insertText(state, literal(text));
  const { pastes } = state;
  return { ...insertText(state, foldOf(pastes.length)), pastes: [...pastes, text] };
}

/** The text that was typed before the prompt appeared, without the newlines at its end. */
export function typedAhead(state: LineState): LineState {
  const { length } = withoutLastNewlines(plain(state.text));
  return { ...state, text: state.text.slice(0, length), cursor: Math.min(state.cursor, length) };
}

/** A line that returns to the prompt, followed by the text that was typed in the meantime, on a line of its own. */
export function initialLine(initial: string, typed: LineState): LineState {
  const state = lineOf(initial, typed);
  return typed.text === '' ? state : insertText(state, `\n${typed.text}`);
}
