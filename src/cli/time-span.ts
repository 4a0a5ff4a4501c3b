// A duration as a user types it: `90m`, `12h`, `30d`, `8w`.
import { InvalidArgumentError } from 'commander';

const unitMs: Readonly<Record<string, number>> = {
  w: 7 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
};

/** Parses the value of an option, in ms. */
export function timeSpan(text: string): number {
  const milliseconds = parseSpan(text);
  if (milliseconds !== null && milliseconds > 0) return milliseconds;
  throw new InvalidArgumentError('Give a time such as 90m, 12h, 30d or 8w.');
}

/** In ms. Null for a text that is no duration. */
export function parseSpan(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (unitMs[unit] ?? 0);
}

/** The duration in the largest unit that fits, except weeks. */
export function spanText(milliseconds: number): string {
  const units = Object.entries(unitMs).filter(([unit]) => unit !== 'w');
  const [unit, ms] = units.find(([, ms]) => milliseconds % ms === 0) ?? ['ms', 1];
  return `${milliseconds / ms}${unit}`;
}
