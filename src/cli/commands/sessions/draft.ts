// Starts a batch: its name, and the ids that the command was given.

import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { BatchDraft } from '../../session-batch/journal.ts';
import type { SessionState } from '../../session-lookup.ts';
import { requireAtMost, takeIds } from './ids.ts';

/** A new batch with a name and an empty list of ids. The caller must close it. */
export function newDraft({ host }: CliContext): BatchDraft {
  return new BatchDraft(host.dataDirectory, batchName(host), host);
}

/** A new name, which starts with the time. */
export function batchName(host: Pick<CliContext['host'], 'now' | 'newRequestId'>): string {
  return `${batchTime(host.now())}-${host.newRequestId().slice(-6)}`;
}

/** A time (ms) as the start of a batch's name: `20260131-140500`. */
export function batchTime(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replace(/\..*|[-:]/g, '')
    .replace('T', '-');
}

interface GivenIds {
  readonly words: readonly string[];
  readonly max: number;
  /** The option that sets `max`. */
  readonly option?: '--max';
  readonly state: SessionState;
}

/**
 * Adds the ids from the arguments or stdin to the list: at least one, at most `max` distinct ones. Resolves to the sessions that were looked
 * up because they were not named by their full id.
 */
export async function collectIds(
  list: IdList,
  { words, max, option, state }: GivenIds,
  context: CliContext,
): Promise<readonly Session[]> {
  const take = (id: string) => {
    const isNew = list.add(id);
    requireAtMost(list.count, max, option);
    return isNew;
  };
  return takeIds(words, take, context, state);
}
