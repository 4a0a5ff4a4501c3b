// A point in time as it is typed: an age before now (`90m`, `12h`, `30d`, `8w`), or a date or time, of UTC where it names no zone.
import { InvalidArgumentError } from 'commander';
import { namesDay } from '../service/calendar-day.ts';

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
  // JavaScript takes a day alone for one of UTC, and a time without a zone for one of the machine's zone. Here both are of UTC, as is every
  // time that is shown.
  const milliseconds =
    day !== undefined && namesDay(day) ? Date.parse(`${day}${time || 'T00:00'}${zone}`) : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw new InvalidArgumentError('Give an age such as 90m, 12h, 30d or 8w, or a date such as 2026-01-31.');
  }
  return { time: new Date(milliseconds).toISOString() };
}

/** ISO 8601 writes earlier years in another form. */
const yearNought = Date.parse('0000-01-01T00:00:00.000Z');

export function timeOf(point: PointInTime, now: number): string {
  return 'time' in point ? point.time : new Date(Math.max(yearNought, now - point.ageMs)).toISOString();
}

/** How long ago, in the largest unit that says something: `3 min`, `5 h`, `12 d`. */
export function ageInWords(time: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(time)) / 60_000));
  if (Number.isNaN(minutes)) return '';
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  const days = Math.floor(minutes / 1440);
  return days < 730 ? `${days} d` : `${Math.floor(days / 365)} y`;
}
