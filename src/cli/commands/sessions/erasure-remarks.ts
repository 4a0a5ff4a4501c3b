// What a person should know of an erasure: where bytes are kept, what was not done. Measures of the files are for programs alone.
import type { StoreFact } from '../../../service/store-fact.ts';

export function erasureRemarks(facts: readonly StoreFact[]): readonly string[] {
  return facts
    .filter(({ value }) => typeof value === 'string')
    .map(({ name, value }) => `${name.replaceAll('_', ' ')}: ${value}`);
}
