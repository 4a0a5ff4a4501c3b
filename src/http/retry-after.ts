// The header Retry-After: seconds, or a date.

/** Seconds from now, rounded up; null where there is no such header, or none that can be read. */
export function readRetryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  // Only a date with its weekday is one: Date.parse takes "-5" for a year.
  const at = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000));
}
