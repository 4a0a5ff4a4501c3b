// The options that name sessions by what they are, instead of by their ids.
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { ParleyError } from '../../../service/errors.ts';

export interface SessionFilter {
  /** Milliseconds since the last activity, at least. */
  readonly olderThan: number | null;
  readonly titleMatch: string | null;
}

export interface FilterFlags {
  readonly olderThan?: number;
  readonly titleMatch?: string;
  readonly all?: true;
}

export function addFilterOptions(command: Command): Command {
  return command
    .option('--older-than <age>', 'sessions without activity for so long: 12h, 30d, 6w', ageInMs)
    .option('--title-match <glob>', 'sessions whose title matches, with * ? [a-z]')
    .option('--all', 'every session of the project');
}

/** Null where none is given. */
export function filterOf({ olderThan, titleMatch, all }: FilterFlags): SessionFilter | null {
  const narrows = olderThan !== undefined || titleMatch !== undefined;
  if (all && narrows) {
    throw new ParleyError('USAGE', '--all means every session, and goes with no other filter.', {
      hint: 'Nothing was done. Leave out --all, or the others.',
    });
  }
  return all || narrows ? { olderThan: olderThan ?? null, titleMatch: titleMatch ?? null } : null;
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `30d` in milliseconds. */
export function ageInMs(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const ms = Number(number) * (unitMs[unit] ?? Number.NaN);
  if (number !== '' && ms < 1e13) return ms;
  throw new InvalidArgumentError('Give a number and a unit: s, m, h, d or w, such as 30d.');
}
