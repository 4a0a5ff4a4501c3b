// When to come again, as a server's head says: `Retry-After` in seconds or as a date, or `retry-after-ms`, which OpenAI and Azure send.

/** Nobody waits for longer, and a sum with it stays a time. */
const mostSeconds = 24 * 60 * 60;

/** Seconds from now, rounded up, a day at most; null where no header says so, or none that can be read. */
export function retryAfterOf(header: (name: string) => string | null, now: number): number | null {
  const milliseconds = header('retry-after-ms')?.trim() ?? '';
  const told = readRetryAfter(header('retry-after'), now);
  if (told !== null || !isNumber.test(milliseconds)) return told;
  return limited(Number(milliseconds) / 1000);
}

/** The same of the value of `Retry-After`. */
export function readRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? '';
  // Whole seconds, says the standard; Groq sends parts of one, too.
  if (isNumber.test(text)) return limited(Number(text));
  // Only a date with its weekday is one: Date.parse takes "-5" for a year.
  const at = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : limited((at - now) / 1000);
}

const isNumber = /^\d+(\.\d+)?$/;

function limited(seconds: number): number {
  return Math.min(Math.max(0, Math.ceil(seconds)), mostSeconds);
}
