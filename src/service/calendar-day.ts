// Checks that a time names a day of the calendar: JavaScript reads 30 February as 2 March.

/** `time` must begin with year, month and day as in ISO 8601. */
export function isCalendarDay(time: string): boolean {
  const day = time.slice(0, 10);
  const milliseconds = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(day);
}
