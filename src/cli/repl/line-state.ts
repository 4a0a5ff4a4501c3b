// What a line editor remembers between two keys, as a value, and the changes that keep it consistent.
import { withoutLastNewlines } from '../end-of-text.ts';
import { foldOf, isLong, mostFolds, unfolded, unfoldedMarks, withLineFeeds } from './line-text.ts';
import { isOpen, type MarkedText, readingOf, typedText } from './typed-line.ts';

/** Long pastes are folded in its text (line-text.ts). */
export interface LineState extends MarkedText {
  /** An offset in the text, between two code points; mostly on the border of a character as a person sees it. */
  readonly cursor: number;
  readonly pastes: readonly string[];
  /** What Ctrl-Y puts back. */
  readonly killed: MarkedText;
  readonly lastAction: 'type' | 'kill' | 'other';
  readonly undo: readonly Draft[];
  /** Where in the history the line comes from, and the line that was left for it. */
  readonly browsing: { readonly index: number; readonly draft: Draft } | null;
  readonly search: Search | null;
  /** True between Ctrl-X and the key that follows it. */
  readonly prefix: boolean;
}

export type Draft = Pick<LineState, 'text' | 'marks' | 'cursor'>;

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
  marks: '',
  cursor: 0,
  pastes: [],
  killed: { text: '', marks: '' },
  lastAction: 'other',
  undo: [],
  browsing: null,
  search: null,
  prefix: false,
};

export function draftOf({ text, marks, cursor }: LineState): Draft {
  return { text, marks, cursor };
}

/** The line, or what was killed of it, without folds. */
export function wholeLine({ pastes, ...state }: LineState, { text, marks }: MarkedText = state): MarkedText {
  return { text: unfolded(text, pastes), marks: unfoldedMarks(text, marks, pastes) };
}

/**
 * A line that is there anew: from the history, or because it comes back. It says what it says when it is typed, and what is text in it
 * stays text however it is edited. The cursor stands behind that text. What was killed before can still be put back.
 */
export function lineOf(text: string, before: LineState = emptyLine): LineState {
  const killed = wholeLine(before, before.killed);
  const line = { ...emptyLine, killed, pastes: before.pastes };
  const typed = typedText(text);
  if (isOpen(typed)) return { ...line, ...typed, cursor: text.length };
  const { from, to, isCommand } = readingOf(typed);
  const content = text.slice(from, to);
  const folds = isLong(content, longLine) && before.pastes.length < mostFolds;
  const shown = folds ? foldOf(before.pastes.length) : content;
  const escapes = !isCommand && text.startsWith('/') ? 'e' : 't';
  return {
    ...line,
    text: text.slice(0, from) + shown + text.slice(to),
    marks: escapes.repeat(from) + 'p'.repeat(shown.length) + 't'.repeat(text.length - to),
    cursor: from + shown.length,
    pastes: folds ? [...before.pastes, content] : before.pastes,
  };
}

/** Replaces a part of the text; the cursor stands behind what is put there. It was typed, unless its marks tell otherwise. */
export function replaced(
  state: LineState,
  from: number,
  to: number,
  text: string,
  marks = typedText(text).marks,
): LineState {
  const { text: before, marks: marksBefore, undo } = state;
  const next = before.slice(0, from) + text + before.slice(to);
  return {
    ...state,
    text: next,
    marks: marksBefore.slice(0, from) + marks + marksBefore.slice(to),
    cursor: from + text.length,
    lastAction: 'other',
    undo: next === before ? undo : [...undo.slice(-mostUndo), draftOf(state)],
    browsing: null,
  };
}

export function moved(state: LineState, cursor: number): LineState {
  return { ...state, cursor, lastAction: 'other' };
}

/** Takes a part of the text away, to be put back by Ctrl-Y; kills in a row are put back together. */
export function killed(state: LineState, from: number, to: number): LineState {
  if (from === to) return state;
  const part = { text: state.text.slice(from, to), marks: state.marks.slice(from, to) };
  const [first, second] = to <= state.cursor ? [part, state.killed] : [state.killed, part];
  const together = { text: first.text + second.text, marks: first.marks + second.marks };
  const joins = state.lastAction === 'kill';
  return { ...replaced(state, from, to, ''), killed: joins ? together : part, lastAction: 'kill' };
}

/** Puts a paste in at the cursor, folded if it is long. */
export function pasted(state: LineState, paste: string): LineState {
  const whole = withLineFeeds(paste);
  if (whole === '') return state;
  const folds = isLong(whole, longPaste) && state.pastes.length < mostFolds;
  const text = folds ? foldOf(state.pastes.length) : whole;
  const next = replaced(state, state.cursor, state.cursor, text, 'p'.repeat(text.length));
  return { ...next, pastes: folds ? [...state.pastes, whole] : state.pastes };
}

/** What was typed meanwhile, without the line ends after it. */
export function typedAhead(state: LineState): LineState {
  const text = withoutLastNewlines(state.text);
  const { length } = text;
  return { ...state, text, marks: state.marks.slice(0, length), cursor: Math.min(state.cursor, length) };
}

/** What was typed meanwhile, on a line of its own behind what comes back. */
export function behind(initial: string, typed: LineState): LineState {
  const state = lineOf(initial, typed);
  if (typed.text === '') return state;
  return replaced(state, state.cursor, state.cursor, `\n${typed.text}`, `t${typed.marks}`);
}
