// A mutant of the terminal filter: it strips escape sequences with strip-ansi, chunk by chunk, as many programs do.
import stripAnsi from 'strip-ansi';
import { oneLine, type TextFilter } from '../../../src/cli/terminal/filter.ts';

export { dangerousCharacters, exactFilter, oneLine } from '../../../src/cli/terminal/filter.ts';

export function filterText(text: string): string {
  return stripAnsi(text);
}

export function filterLine(text: string): string {
  return filterText(oneLine(text));
}

export function terminalFilter(): TextFilter {
  return { push: (chunk) => stripAnsi(chunk), end: () => '' };
}
