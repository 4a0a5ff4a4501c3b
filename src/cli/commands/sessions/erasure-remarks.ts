// Remarks about an erasure for a user: where bytes remain, what was not done. Numbers are for programs only.
import type { StoreFact } from '../../../service/store-fact.ts';

export function erasureRemarks(facts: readonly StoreFact[]): readonly string[] {
  return facts
    .filter(({ value }) => typeof value === 'string')
    .map(({ name, value }) => `${name.replaceAll('_', ' ')}: ${value}`);
}
