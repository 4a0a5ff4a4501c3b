// The options that select sessions by their properties, for lists, searches, exports and batches.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { SessionConditions } from '../../../service/session-archive.ts';
import { type PointInTime, pointInTime, timeOf } from '../../age.ts';

/** The conditions of a command line. A missing condition matches every session. */
export interface ConditionFlags {
  /** Compared with the time of the last activity. */
  readonly olderThan?: PointInTime;
  readonly newerThan?: PointInTime;
  readonly titleMatch?: string;
  readonly mode?: string;
  readonly tag?: string;
  readonly user?: string;
  readonly pinned?: boolean;
  readonly archived?: true;
}

export const conditionNames = [
  'olderThan',
  'newerThan',
  'titleMatch',
  'mode',
  'tag',
  'user',
  'pinned',
  'archived',
] as const satisfies readonly (keyof ConditionFlags)[];

export interface FilterFlags extends ConditionFlags {
  readonly query?: string;
  readonly all?: true;
}

export interface FilterChoice {
  readonly conditions: ConditionFlags;
  /** The words of a search; null for none. */
  readonly query: string | null;
  readonly all: boolean;
}

export function addConditionOptions(
  command: Command,
  archived = 'archived sessions instead of the others',
): Command {
  return command
    .option('--older-than <when>', 'sessions last active before: 90m, 12h, 30d, 8w, or a date', pointInTime)
    .option('--newer-than <when>', 'sessions last active since then', pointInTime)
    .option('--title-match <glob>', 'sessions whose title matches this glob (* ? [a-z])')
    .option('--mode <name>', 'sessions whose last turn was in this mode')
    .option('--tag <tag>', 'sessions with this tag')
    .option('--user <name>', 'sessions of this user')
    .option('--pinned', 'pinned sessions')
    .option('--no-pinned', 'sessions that are not pinned')
    .option('--archived', archived);
}

export function addFilterOptions(command: Command, archived?: string): Command {
  return addConditionOptions(command, archived)
    .option('--query <words>', 'sessions whose messages contain these words, as in sessions search')
    .option('--all', 'all sessions of the project, including archived ones');
}

/** Null if no filter is set. */
export function filterOf({ query, all, ...flags }: FilterFlags): FilterChoice | null {
  const conditions = conditionFlagsOf(flags);
  const narrows = query !== undefined || Object.keys(conditions).length > 0;
  if (all && narrows) {
    throw new ParleyError(
      'USAGE',
      '--all selects every session, and cannot be combined with other filters.',
      {
        hint: 'Nothing was done. Remove --all or the other filters.',
      },
    );
  }
  return all || narrows ? { conditions, query: query ?? null, all: all ?? false } : null;
}

/** The conditions among other flags. */
export function conditionFlagsOf(flags: ConditionFlags): ConditionFlags {
  const conditions = conditionNames.map((name) => [name, flags[name]] as const);
  return Object.fromEntries(conditions.filter(([, value]) => value !== undefined));
}

/** `archivedByDefault` selects archived sessions without `--archived`, or the others if false; null selects both. */
export function conditionsOf(
  flags: ConditionFlags,
  now: number,
  archivedByDefault: boolean | null,
): SessionConditions {
  const { olderThan, newerThan, titleMatch, mode, tag, user, pinned, archived } = flags;
  return {
    updated_before: olderThan === undefined ? null : timeOf(olderThan, now),
    updated_after: newerThan === undefined ? null : timeOf(newerThan, now),
    title_match: titleMatch ?? null,
    mode: mode ?? null,
    tag: tag ?? null,
    user: user ?? null,
    pinned: pinned ?? null,
    archived: archived ?? archivedByDefault,
  };
}

/** The options for these conditions, for commands that Parley prints. */
export function conditionWords(conditions: SessionConditions): readonly string[] {
  const { updated_before, updated_after, title_match, mode, tag, user, pinned, archived } = conditions;
  return [
    ...(title_match === null ? [] : ['--title-match', title_match]),
    ...(updated_before === null ? [] : ['--older-than', updated_before]),
    ...(updated_after === null ? [] : ['--newer-than', updated_after]),
    ...(mode === null ? [] : ['--mode', mode]),
    ...(tag === null ? [] : ['--tag', tag]),
    ...(user === null ? [] : ['--user', user]),
    ...(pinned === null ? [] : [pinned ? '--pinned' : '--no-pinned']),
    ...(archived ? ['--archived'] : []),
  ];
}
