// The sentence at the end of a command. After long work it tells how long that took.
import { duration } from '../service/duration.ts';

/** Shorter work (ms) tells no time. */
const longMs = 10_000;

/** `Backed up 3 sessions to FILE.`; after long work `Backed up 60000 sessions to FILE, in 25 s.` */
export function endSentence(words: string, tookMs: number): string {
  return tookMs < longMs ? `${words}.` : `${words}, in ${duration(tookMs / 1000)}.`;
}
