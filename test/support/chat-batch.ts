// Runs `parley chat --batch` to its end and reads its results.
import type { Outcome, Place, RunOptions } from './parley.ts';

export const batch = ['chat', '--batch', '-m', 'echo'];

/** A result line of a batch. */
export interface Result {
  readonly id: string | number;
  readonly success: boolean;
  readonly data?: { readonly session_id: string; readonly reply: string; readonly message_count: number };
  readonly error?: { readonly code: string; readonly message: string; readonly session_id?: string };
}

export function resultsOf({ out }: Pick<Outcome, 'out'>): readonly Result[] {
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Runs a batch of these lines to its end. */
export async function runBatch(
  place: Place,
  stdin: string | Uint8Array,
  words: readonly string[] = [],
  options: RunOptions = {},
) {
  const outcome = await place.parley([...batch, ...words], { ...options, stdin });
  return { ...outcome, results: resultsOf(outcome) };
}
