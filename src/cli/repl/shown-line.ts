// Derives the shown prompt and line from the state of the editor. During Ctrl-R this is the line that was found.
import { placeIn } from './history-search.ts';
import type { Prompt, ShownLine } from './line-layout.ts';
import type { LineState } from './line-state.ts';
import { longPaste } from './line-state.ts';
import { isLong, plain } from './line-text.ts';

/** The number of characters that are shown of a long line, and how many of them before the match. */
const maxRowCharacters = 200;
const maxCharactersBefore = 60;
/** The number of characters that are shown of a long search text, from its end. */
const maxQueryCharacters = 40;

export function shownPrompt({ search }: LineState, prompt: Prompt): Prompt {
  if (search === null) return prompt;
  const label = search.found === null && search.query !== '' ? 'no match' : 'search';
  const { query } = search;
  const shown =
    query.length > maxQueryCharacters ? `…${query.slice(-maxQueryCharacters).toWellFormed()}` : query;
  const text = `(${label} "${shown}") `;
  return { text, styled: text };
}

/** Reads the history only during a search, because the first prompt does not wait for it. */
export function shownLine(state: LineState, history: () => readonly string[]): ShownLine {
  const { search, pastes } = state;
  if (search === null) return { text: plain(state.text), cursor: state.cursor, pastes };
  const line = search.found === null ? '' : (history()[search.found] ?? '');
  const text = isLong(line, longPaste) ? aroundMatch(line, placeIn(line, search.query)) : line;
  return { text, cursor: Math.max(0, placeIn(text, search.query)), pastes };
}

/** A long line would fill the screen, so only the row with the match is shown. */
function aroundMatch(line: string, at: number): string {
  const start = Math.max(line.lastIndexOf('\n', at - 1) + 1, at - maxCharactersBefore);
  const [row = ''] = line.slice(start, start + maxRowCharacters).split('\n');
  const isAll = start === 0 && row.length === line.length;
  return isAll ? row : `${start > 0 ? '… ' : ''}${row.toWellFormed()} …`;
}
