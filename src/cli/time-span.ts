// A span of time as a person types it: `90m`, `12h`, `30d`, `8w`.
import { InvalidArgumentError } from 'commander';

const unitMs: Readonly<Record<string, number>> = {
  w: 7 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
};

/** Reads it for an option of a command, in ms. */
export function timeSpan(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const milliseconds = Number(count ?? 0) * (unitMs[unit] ?? 0);
  if (milliseconds > 0) return milliseconds;
  throw new InvalidArgumentError('Give a time such as 90m, 12h, 30d or 8w.');
}

/** The same span with the largest unit except weeks, which few people count in. */
export function spanText(milliseconds: number): string {
  const units = Object.entries(unitMs).filter(([unit]) => unit !== 'w');
  const [unit, ms] = units.find(([, ms]) => milliseconds % ms === 0) ?? ['ms', 1];
  return `${milliseconds / ms}${unit}`;
}
