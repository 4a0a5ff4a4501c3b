// Selects what is shown of a line's state: the line at its prompt, or during Ctrl-R the line that was found.
import { placeIn } from './history-search.ts';
import type { Prompt, ShownLine } from './line-layout.ts';
import type { LineState } from './line-state.ts';
import { plain } from './line-text.ts';

export function shownPrompt({ search }: LineState, prompt: Prompt): Prompt {
  if (search === null) return prompt;
  const found = search.found === null && search.query !== '' ? 'no match' : 'search';
  const text = `(${found} "${search.query}") `;
  return { text, styled: text };
}

export function shownLine(state: LineState, history: readonly string[]): ShownLine {
  const { search, pastes } = state;
  if (search === null) return { text: plain(state.text), cursor: state.cursor, pastes };
  const text = search.found === null ? '' : (history[search.found] ?? '');
  return { text, cursor: Math.max(0, placeIn(text, search.query)), pastes };
}
