// Where the ids that a command is given are collected, before anything is done to them.
import type { CliContext } from '../../context.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import { BatchDraft } from '../../session-batch/journal.ts';
import { requireRoom, takeIds } from './ids.ts';

/** A name for a batch, and the place where its ids are collected. Close it in the end, whatever happened. */
export function newDraft({ host }: CliContext): BatchDraft {
  const time = new Date(host.now())
    .toISOString()
    .replace(/\..*|[-:]/g, '')
    .replace('T', '-');
  return new BatchDraft(host.dataDirectory, `${time}-${host.newRequestId().slice(-6)}`, host);
}

/** The ids given, as arguments or on stdin: at least one, at most `limit` distinct ones. */
export async function collectIds(
  words: readonly string[],
  list: IdList,
  limit: number,
  context: CliContext,
): Promise<void> {
  const take = (id: string) => {
    list.add(id);
    requireRoom(list.count, limit);
  };
  await takeIds(words, take, context);
}
