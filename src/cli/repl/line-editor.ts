// The line editor: a pure function from a state and a key to a new state and an action. The keys are those of readline. line-reader.ts
// shows the line and performs the action.
import { changeSearch, findNext } from './history-search.ts';
import {
  type Action,
  type EditResult,
  isInterrupt,
  isText,
  type Key,
  keyName,
  type LineInput,
} from './line-input.ts';
import {
  draftOf,
  insertPaste,
  insertText,
  killText,
  type LineState,
  lineOf,
  longPaste,
  moveCursor,
  replaceText,
} from './line-state.ts';
import {
  blankBefore,
  characterAfter,
  characterBefore,
  lineEnd,
  lineStart,
  plain,
  wordAfter,
  wordBefore,
} from './line-text.ts';
import { asksForMore, openBlock } from './typed-line.ts';

/** `history` begins with the oldest line. */
export function edit(state: LineState, input: LineInput, history: readonly string[]): EditResult {
  if (input.kind === 'paste') {
    return state.search === null
      ? result(insertPaste({ ...state, prefix: false }, input.text))
      : changeSearch(state, { typed: input.text.replace(/\s+/g, ' ') }, history);
  }
  const { key } = input;
  if (state.search !== null) return inSearch(state, key, history);
  if (state.prefix) {
    const next = { ...state, prefix: false };
    if (isInterrupt(input)) return edit(next, input, history);
    return { state: next, action: keyName(key) === 'ctrl-e' ? 'open-editor' : 'bell' };
  }
  const change = changes[keyName(key)];
  if (change !== undefined) return change(state, history);
  return isText(key) ? result(typeText(state, key.sequence)) : result(state);
}

function result(state: LineState): EditResult {
  return { state, action: 'none' };
}

function typeText(state: LineState, text: string): LineState {
  const next = insertText(state, text);
  // Letters that are typed one after the other are undone together.
  const joins = state.lastAction === 'type' && !/\s/.test(text);
  return { ...next, undo: joins ? state.undo : next.undo, lastAction: 'type' };
}

type Change = (state: LineState, history: readonly string[]) => EditResult;

/** Finds an offset in a text from that of the cursor. */
type Find = (text: string, at: number) => number;

const moving =
  (to: Find): Change =>
  (state) =>
    result(moveCursor(state, to(plain(state.text), state.cursor)));

const removing =
  (remove: (state: LineState, from: number, to: number) => LineState) =>
  (from: Find, to: Find): Change =>
  (state) => {
    const text = plain(state.text);
    return result(remove(state, from(text, state.cursor), to(text, state.cursor)));
  };

const killing = removing(killText);
const erasing = removing((state, from, to) => replaceText(state, from, to, ''));

const acting =
  (action: Action): Change =>
  (state) => ({ state, action });

const here: Find = (_text, at) => at;
const left = characterBefore;
const right = characterAfter;
const enter: Change = (state) => {
  const { text, cursor } = state;
  if (openBlock(text) !== null) return result(replaceText(state, text.length, text.length, '\n'));
  if (asksForMore(text) && cursor === text.length)
    return result(replaceText(state, text.length - 1, text.length, '\n'));
  return { state, action: 'submit' };
};

const older: Change = (state, history) => {
  const [text, cursor] = [plain(state.text), state.cursor];
  const start = lineStart(text, cursor);
  if (start > 0) {
    const above = lineStart(text, start - 1);
    return result(moveCursor(state, onBorder(text, Math.min(above + cursor - start, start - 1))));
  }
  const index = (state.browsing?.index ?? history.length) - 1;
  return index < 0 ? { state, action: 'bell' } : result(recallLine(state, index, history));
};

const newer: Change = (state, history) => {
  const { cursor, browsing } = state;
  const text = plain(state.text);
  const end = lineEnd(text, cursor);
  if (end < text.length) {
    const column = cursor - lineStart(text, cursor);
    return result(moveCursor(state, onBorder(text, Math.min(end + 1 + column, lineEnd(text, end + 1)))));
  }
  if (browsing === null) return { state, action: 'bell' };
  if (browsing.index + 1 < history.length) return result(recallLine(state, browsing.index + 1, history));
  return result({ ...state, ...browsing.draft, browsing: null, lastAction: 'other' });
};

function recallLine(state: LineState, index: number, history: readonly string[]): LineState {
  const { undo, browsing } = state;
  const draft = browsing?.draft ?? draftOf(state);
  return { ...lineOf(history[index] ?? '', state, longPaste), undo, browsing: { index, draft } };
}

/** Moves a position inside a character to the start of that character. */
function onBorder(text: string, at: number): number {
  const after = characterAfter(text, characterBefore(text, at));
  return after === at || at === 0 ? at : characterBefore(text, at);
}

const transpose: Change = (state) => {
  const [text, cursor] = [plain(state.text), state.cursor];
  const second = cursor === text.length ? characterBefore(text, cursor) : cursor;
  if (second === 0 || text.length < 2) return { state, action: 'bell' };
  const first = characterBefore(text, second);
  const end = characterAfter(text, second);
  const swapped = state.text.slice(second, end) + state.text.slice(first, second);
  return result(replaceText(state, first, end, swapped));
};

const undo: Change = (state) => {
  const before = state.undo.at(-1);
  if (before === undefined) return { state, action: 'bell' };
  return result({ ...state, ...before, undo: state.undo.slice(0, -1), browsing: null, lastAction: 'other' });
};

const changes: Readonly<Record<string, Change>> = {
  return: enter,
  // Before the terminal is in raw mode, Enter arrives under this name.
  enter,
  'alt-return': (state) => result(insertText(state, '\n')),
  'alt-enter': (state) => result(insertText(state, '\n')),
  tab: acting('complete'),
  'ctrl-c': acting('interrupt'),
  'ctrl-z': acting('suspend'),
  'ctrl-l': acting('clear-screen'),
  'ctrl-d': (state, history) =>
    state.text === '' ? { state, action: 'leave' } : erasing(here, right)(state, history),
  'ctrl-x': (state) => result({ ...state, prefix: true }),
  'ctrl-r': (state, history) => changeSearch(state, { typed: '' }, history),
  left: moving(left),
  'ctrl-b': moving(left),
  right: moving(right),
  'ctrl-f': moving(right),
  'ctrl-left': moving(wordBefore),
  'alt-left': moving(wordBefore),
  'alt-b': moving(wordBefore),
  'ctrl-right': moving(wordAfter),
  'alt-right': moving(wordAfter),
  'alt-f': moving(wordAfter),
  home: moving(lineStart),
  'ctrl-a': moving(lineStart),
  end: moving(lineEnd),
  'ctrl-e': moving(lineEnd),
  up: older,
  'ctrl-p': older,
  down: newer,
  'ctrl-n': newer,
  backspace: erasing(left, here),
  'ctrl-h': erasing(left, here),
  delete: erasing(here, right),
  'ctrl-w': killing(blankBefore, here),
  'alt-backspace': killing(wordBefore, here),
  'ctrl-backspace': killing(wordBefore, here),
  'alt-d': killing(here, wordAfter),
  'alt-delete': killing(here, wordAfter),
  'ctrl-delete': killing(here, wordAfter),
  'ctrl-u': killing(lineStart, here),
  'ctrl-k': killing(here, (text, at) => (text[at] === '\n' ? at + 1 : lineEnd(text, at))),
  'ctrl-y': (state) => result(insertText(state, state.killedText)),
  'ctrl-t': transpose,
  'ctrl-_': undo,
};

function inSearch(state: LineState, key: Key, history: readonly string[]): EditResult {
  const { search } = state;
  const name = keyName(key);
  if (search === null || name === 'ctrl-g' || name === 'ctrl-c')
    return result({ ...state, ...search?.draft, search: null });
  if (name === 'ctrl-r') return findNext(state, search, history);
  if (name === 'backspace' || name === 'ctrl-h') return changeSearch(state, { erased: true }, history);
  if (isText(key)) return changeSearch(state, { typed: key.sequence }, history);
  // Any other key accepts the found line, and then has its own effect.
  const found = search.found === null ? null : (history[search.found] ?? '');
  const line = found === null ? { ...state, ...search.draft, search: null } : lineOf(found, state, longPaste);
  return name === 'escape' || name === 'tab' ? result(line) : edit(line, { kind: 'key', key }, history);
}
