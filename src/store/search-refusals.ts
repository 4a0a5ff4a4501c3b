// The errors for searches that a store cannot answer in reasonable time, the same for every store.
import { ParleyError } from '../service/errors.ts';
import type { SearchTerm } from './session-filters.ts';

/** The error for a term that is too short for an index: too many words begin with it. */
export function tooShort(text: string): ParleyError {
  const problem = `has the word ${JSON.stringify(text)}, which is too short to be looked for`;
  return refused(problem, 'Add a character to it.');
}

export function tooLong(terms: readonly SearchTerm[], limitMs: number): ParleyError {
  const words = terms.map(({ text, prefix }) => JSON.stringify(prefix ? `${text}*` : text));
  const problem = `lasts longer than ${limitMs / 1000} s: ${words.join(' ')}`;
  return refused(problem, 'Use longer or rarer words. The beginning of many words costs most.');
}

function refused(problem: string, hint: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The query ${problem}.`, {
    hint,
    details: [{ field: 'q', problem }],
  });
}
