// The options that name sessions by what they are, instead of by their ids.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { type PointInTime, pointInTime } from '../../age.ts';

export interface FilterChoice {
  /** Of the last activity. */
  readonly olderThan: PointInTime | null;
  readonly titleMatch: string | null;
  /** As of a search. */
  readonly query: string | null;
}

export interface FilterFlags {
  readonly olderThan?: PointInTime;
  readonly titleMatch?: string;
  readonly query?: string;
  readonly all?: true;
}

export function addFilterOptions(command: Command): Command {
  return command
    .option('--older-than <when>', 'sessions last active before: 90m, 12h, 30d, 8w, or a date', pointInTime)
    .option('--title-match <glob>', 'sessions whose title matches, with * ? [a-z]')
    .option('--query <words>', 'sessions in whose messages these words occur, as sessions search finds them')
    .option('--all', 'every session of the project');
}

/** Null where none is given. */
export function filterOf({ olderThan, titleMatch, query, all }: FilterFlags): FilterChoice | null {
  const narrows = olderThan !== undefined || titleMatch !== undefined || query !== undefined;
  if (all && narrows) {
    throw new ParleyError('USAGE', '--all means every session, and goes with no other filter.', {
      hint: 'Nothing was done. Leave out --all, or the others.',
    });
  }
  return all || narrows
    ? { olderThan: olderThan ?? null, titleMatch: titleMatch ?? null, query: query ?? null }
    : null;
}
