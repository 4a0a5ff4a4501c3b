// Collects the ids that a command is given, before anything is done to them.

import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { BatchDraft } from '../../session-batch/journal.ts';
import type { SessionState } from '../../session-lookup.ts';
import { batchTime } from './batch-time.ts';
import { requireRoom, takeIds } from './ids.ts';

/** A new batch with a name, and the list that collects its ids. The caller closes it in the end, whatever happens. */
export function newDraft({ host }: CliContext): BatchDraft {
  return new BatchDraft(host.dataDirectory, batchName(host), host);
}

/** A new name, which begins with the time. */
export function batchName(host: Pick<CliContext['host'], 'now' | 'newRequestId'>): string {
  return `${batchTime(host.now())}-${host.newRequestId().slice(-6)}`;
}

/**
 * Adds the given ids to the list, from the arguments or stdin: at least one, at most `limit` distinct ones. Resolves to the sessions that
 * were not named by their full id.
 */
export async function collectIds(
  words: readonly string[],
  list: IdList,
  limit: number,
  context: CliContext,
  state: SessionState,
): Promise<readonly Session[]> {
  const take = (id: string) => {
    const isNew = list.add(id);
    requireRoom(list.count, limit);
    return isNew;
  };
  return takeIds(words, take, context, state);
}
