// The sentence that sums up a command at its end. After long work it includes the time.
import { duration } from '../service/duration.ts';

/** The time is included from this duration (ms) on. */
const longMs = 10_000;

/** `Backed up 3 sessions to FILE.`, or after long work `Backed up 60000 sessions to FILE, in 25 s.` */
export function summarySentence(words: string, tookMs: number): string {
  return tookMs < longMs ? `${words}.` : `${words}, in ${duration(tookMs / 1000)}.`;
}
