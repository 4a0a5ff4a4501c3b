// Reads a point in time as a person types it: an age (`90m`, `12h`, `30d`, `8w`), or a date or time, in UTC if it names no zone.
import { InvalidArgumentError } from 'commander';
import { isCalendarDay } from '../service/calendar-day.ts';

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

export type PointInTime = { readonly ageMs: number } | { readonly time: string };

const dateOrTime = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** For an option of a command. */
export function pointInTime(text: string): PointInTime {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return { ageMs: Number(count) * (unitMs[unit] ?? 0) };
  const [, day, time = '', zone = 'Z'] = dateOrTime.exec(text) ?? [];
  // JavaScript reads a day alone in UTC, but a time without a zone in the zone of the machine. Here both are in UTC, as all shown times are.
  const milliseconds =
    day !== undefined && isCalendarDay(day) ? Date.parse(`${day}${time || 'T00:00'}${zone}`) : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw new InvalidArgumentError('Give an age such as 90m, 12h, 30d or 8w, or a date such as 2026-01-31.');
  }
  return { time: new Date(milliseconds).toISOString() };
}

/** The same for a time to come. */
export function timeAhead(point: PointInTime, now: number): string {
  return 'time' in point ? point.time : new Date(now + point.ageMs).toISOString();
}

/** The earliest year: ISO 8601 writes earlier ones in another form. */
const yearNought = Date.parse('0000-01-01T00:00:00.000Z');

export function timeOf(point: PointInTime, now: number): string {
  return 'time' in point ? point.time : new Date(Math.max(yearNought, now - point.ageMs)).toISOString();
}
