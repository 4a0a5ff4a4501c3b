// Reads the wait that a response asks for: `Retry-After` in seconds or as a date, or `retry-after-ms`, which OpenAI and Azure send.

/** The longest wait that is returned. No caller waits longer, and a time plus this wait is still a valid time. */
const maxSeconds = 24 * 60 * 60;

/** Seconds from now, rounded up, at most a day; null if no header contains a readable wait. */
export function retryAfterOf(header: (name: string) => string | null, now: number): number | null {
  const milliseconds = header('retry-after-ms')?.trim() ?? '';
  const seconds = readRetryAfter(header('retry-after'), now);
  if (seconds !== null || !isNumber.test(milliseconds)) return seconds;
  return wholeSeconds(Number(milliseconds) / 1000);
}

/** As {@link retryAfterOf}, for the value of `Retry-After`. */
export function readRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? '';
  // RFC 9110, section 10.2.3, defines whole seconds; Groq also sends fractions.
  if (isNumber.test(text)) return wholeSeconds(Number(text));
  // A date must begin with a weekday, because `Date.parse` reads "-5" as a year.
  const at = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : wholeSeconds((at - now) / 1000);
}

const isNumber = /^\d+(\.\d+)?$/;

function wholeSeconds(seconds: number): number {
  return Math.min(Math.max(0, Math.ceil(seconds)), maxSeconds);
}
