// A time as a terminal shows it: how long ago, for up to a week, and otherwise the local date and time. With `--utc` and in pipes, it is the
// time that the service returned.

import type { Output } from './terminal/output.ts';

const minuteMs = 60_000;
const weekMs = 7 * 24 * 60 * minuteMs;

/** A text that is not a time stays unchanged. It may come from any server, so it is untrusted. */
export function shownTime(time: string, now: number, { utc = false } = {}): string {
  const milliseconds = Date.parse(time);
  if (utc || Number.isNaN(milliseconds)) return time;
  const age = now - milliseconds;
  // The other clock may be a little ahead.
  return age >= -minuteMs && age < weekMs ? agoInWords(age) : localTime(milliseconds);
}

/** How an output shows times. */
export function timesIn(
  { isTerminal }: Pick<Output, 'isTerminal'>,
  now: number,
  { utc = false } = {},
): (time: string) => string {
  return (time) => shownTime(time, now, { utc: utc || !isTerminal });
}

/** Like {@link shownTime}, but shows only the date of an old time. */
export function shownDay(time: string, now: number, { utc = false } = {}): string {
  return shownTime(time, now, { utc }).replace(/^(\d{4}-\d\d-\d\d) \d\d:\d\d$/, '$1');
}

/** `2026-01-31 14:05`, in the zone of this process. */
export function localTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The zone of this process at a time: `+01:00`. */
export function localZone(milliseconds: number): string {
  const minutes = -new Date(milliseconds).getTimezoneOffset();
  const two = (number: number) => String(number).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function agoInWords(age: number): string {
  const minutes = Math.floor(Math.max(0, age) / minuteMs);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}
