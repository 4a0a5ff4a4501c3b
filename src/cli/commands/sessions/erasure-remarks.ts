// Remarks about an erasure for a user: where bytes remain, what was not done. Numbers are for programs only.
import type { StoreFact } from '../../../service/store-fact.ts';

const beginnings: Readonly<Record<string, string>> = {
  kept_by_postgresql: 'PostgreSQL still has the bytes in',
  not_vacuumed: 'The tables were not vacuumed',
};

export function erasureRemarks(facts: readonly StoreFact[]): readonly string[] {
  return facts
    .filter(({ value }) => typeof value === 'string')
    .map(({ name, value }) => `${beginnings[name] ?? name.replaceAll('_', ' ')}: ${value}.`);
}
