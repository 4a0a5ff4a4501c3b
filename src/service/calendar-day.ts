// Whether a time names a day that the calendar has: JavaScript takes 30 February for 2 March.

/** Of a text that begins as ISO 8601 has it, with year, month and day. */
export function namesDay(time: string): boolean {
  const day = time.slice(0, 10);
  const milliseconds = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(day);
}
