// Selects what is shown of a line's state: the line at its prompt, or during Ctrl-R the line that was found.
import { placeIn } from './history-search.ts';
import type { Prompt, ShownLine } from './line-layout.ts';
import type { LineState } from './line-state.ts';
import { longPaste } from './line-state.ts';
import { isLong, plain } from './line-text.ts';

/** Of a long line, so many characters are shown, and so many of them before the hit. */
const longestRow = 200;
const longestBefore = 60;
/** Of a long text that is looked for, so many characters at its end are shown. */
const longestQuery = 40;

export function shownPrompt({ search }: LineState, prompt: Prompt): Prompt {
  if (search === null) return prompt;
  const found = search.found === null && search.query !== '' ? 'no match' : 'search';
  const { query } = search;
  const shown = query.length > longestQuery ? `…${query.slice(-longestQuery).toWellFormed()}` : query;
  const text = `(${found} "${shown}") `;
  return { text, styled: text };
}

export function shownLine(state: LineState, history: readonly string[]): ShownLine {
  const { search, pastes } = state;
  if (search === null) return { text: plain(state.text), cursor: state.cursor, pastes };
  const line = search.found === null ? '' : (history[search.found] ?? '');
  const text = isLong(line, longPaste) ? aroundHit(line, placeIn(line, search.query)) : line;
  return { text, cursor: Math.max(0, placeIn(text, search.query)), pastes };
}

/** A long line would fill the screen. It is shown as the row with the hit. */
function aroundHit(line: string, at: number): string {
  const start = Math.max(line.lastIndexOf('\n', at - 1) + 1, at - longestBefore);
  const [row = ''] = line.slice(start, start + longestRow).split('\n');
  const isAll = start === 0 && row.length === line.length;
  return isAll ? row : `${start > 0 ? '… ' : ''}${row.toWellFormed()} …`;
}
