// Reads a point in time as a person types it: an age (`90m`, `12h`, `30d`, `8w`), or a date or time, in UTC if it names no zone.
import { InvalidArgumentError } from 'commander';
import { isCalendarDay } from '../service/calendar-day.ts';
import { parseSpan } from './time-span.ts';

export type PointInTime = { readonly ageMs: number } | { readonly time: string };

const dateOrTime = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** Parses the value of an option. */
export function pointInTime(text: string): PointInTime {
  const ageMs = parseSpan(text);
  if (ageMs !== null) return { ageMs };
  const [, day, time = '', zone = 'Z'] = dateOrTime.exec(text) ?? [];
  // JavaScript reads a bare date as UTC, but a time without a zone as local time. Here both are UTC.
  const milliseconds =
    day !== undefined && isCalendarDay(day) ? Date.parse(`${day}${time || 'T00:00'}${zone}`) : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw new InvalidArgumentError('Give a time such as 90m, 12h, 30d or 8w, or a date such as 2026-01-31.');
  }
  return { time: new Date(milliseconds).toISOString() };
}

/** The point in time as ISO 8601. An age is added to `now`. */
export function timeAhead(point: PointInTime, now: number): string {
  return 'time' in point ? point.time : new Date(now + point.ageMs).toISOString();
}

/** ISO 8601 writes earlier years in another form. */
const yearZero = Date.parse('0000-01-01T00:00:00.000Z');

/** The point in time as ISO 8601. An age is subtracted from `now`. */
export function timeOf(point: PointInTime, now: number): string {
  return 'time' in point ? point.time : new Date(Math.max(yearZero, now - point.ageMs)).toISOString();
}
