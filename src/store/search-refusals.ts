// The errors for searches that a store cannot answer in reasonable time, the same for every store.
import { ParleyError } from '../service/errors.ts';
import type { SearchTerm } from './session-filters.ts';

/** `INVALID_REQUEST` for a search that was ended after `limitMs` ms. It names the terms. */
export function tooLong(terms: readonly SearchTerm[], limitMs: number): ParleyError {
  const words = terms.map(({ text, prefix }) => JSON.stringify(prefix ? `${text}*` : text));
  const problem = `lasts longer than ${limitMs / 1000} s: ${words.join(' ')}`;
  return new ParleyError('INVALID_REQUEST', `The query ${problem}.`, {
    hint: 'Use longer or rarer words. The beginning of many words costs most.',
    details: [{ field: 'q', problem }],
  });
}
