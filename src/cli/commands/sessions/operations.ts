// The operations of each kind of batch on the service, for many sessions per call or for one.
import type { Backend } from '../../../service/backend.ts';
import type { Call } from '../../../service/call.ts';
import { ParleyError } from '../../../service/errors.ts';
import { defaultLimits } from '../../../service/limits.ts';
import { quoted } from '../../../service/quoted.ts';
import type { Result } from '../../../service/result.ts';
import type { OrderedItem, SessionArchive, TagChange } from '../../../service/session-archive.ts';
import { type BatchAction, batchKinds, type OrderKind } from '../../session-batch/batch-kind.ts';
import type { ItemResult } from '../../session-batch/batch-report.ts';
import { withTypedName } from '../../typed-name.ts';
import type { SessionOperation } from './batch.ts';

export const deletion: SessionOperation = {
  done: 'deleted',
  runMany: (backend) => async (call, ids) => (await backend.archive.deleteSessions(call, ids)).data.items,
  runOne: (backend) => (call, id) => backend.service.deleteSession(call, id),
  mayRunSingly: true,
  isMissingWhenDone: true,
};

/** A server without batches has no restoring either. */
export const restoring: SessionOperation = {
  done: 'restored',
  runMany: (backend) => async (call, ids) => (await backend.archive.restoreSessions(call, ids)).data.items,
  runOne: (backend) => async (call, id) => {
    await backend.archive.restoreSession(call, id);
    return { repeated: false };
  },
  mayRunSingly: false,
};

export const lookup: SessionOperation = {
  done: '',
  runMany: null,
  runOne: (backend) => async (call, id) => {
    await backend.service.getSession(call, id);
    return { repeated: false };
  },
  mayRunSingly: true,
};

/** The operation of an action. `onArchived` is called with the ids that were archived. */
export function operationOf(
  { kind, tags }: BatchAction,
  onArchived: (ids: ReadonlySet<string>) => void,
): SessionOperation {
  if (kind === 'delete') return deletion;
  return ordering(kind, tags ?? { add: [], remove: [] }, kind === 'archive' ? onArchived : undefined);
}

/** Pins, archives or tags. A server without the extension `order` supports none of this, not even for single sessions. */
export function ordering(
  kind: OrderKind,
  tags: TagChange,
  onDone: (ids: ReadonlySet<string>) => void = () => {},
): SessionOperation {
  const { done } = batchKinds[kind];
  const send = senderOf(kind, tags);
  const ask = async ({ archive }: Backend, call: Call, ids: readonly string[]) => {
    const items = (await send(archive, call, ids)).data.items;
    onDone(new Set(items.filter(({ status }) => status === done).map(({ session_id }) => session_id)));
    return items.map(resultOf);
  };
  return {
    done,
    runMany: (backend) => (call, ids) => ask(backend, call, ids),
    runOne: (backend) => async (call, id) => {
      const [result] = await ask(backend, call, [id]);
      if (result?.status === 'not_found')
        throw new ParleyError('SESSION_NOT_FOUND', 'There is no such session.');
      if (result?.error) throw new ParleyError('INVALID_REQUEST', result.error.message);
      return { repeated: false };
    },
    mayRunSingly: false,
    isOrder: true,
  };
}

type SendOrdering = (
  archive: SessionArchive,
  call: Call,
  ids: readonly string[],
) => Promise<Result<{ readonly items: readonly OrderedItem[] }>>;

function senderOf(kind: OrderKind, tags: TagChange): SendOrdering {
  switch (kind) {
    case 'tag':
      return (archive, call, ids) =>
        archive.tagSessions(call, ids, tags).catch((error: unknown) => {
          throw withTypedName(error, (field) => typedTag(field, tags));
        });
    case 'pin':
    case 'unpin':
      return (archive, call, ids) => archive.pinSessions(call, ids, kind === 'pin');
    case 'archive':
    case 'unarchive':
      return (archive, call, ids) => archive.archiveSessions(call, ids, kind === 'archive');
  }
}

/** The tag that a field such as `add[0]` means. */
function typedTag(field: string, tags: TagChange): string | null {
  const [, list, index] = /^(add|remove)\[(\d+)\]$/.exec(field) ?? [];
  const tag = list === undefined ? undefined : tags[list === 'add' ? 'add' : 'remove'][Number(index)];
  return tag === undefined ? null : `The tag ${quoted(tag)}`;
}

function resultOf({ session_id, status, changed }: OrderedItem): ItemResult {
  if (status === 'not_found') return { session_id, status };
  if (status !== 'too_many_tags') return { session_id, status, changed };
  const message = `The session would have more than ${defaultLimits.tags} tags.`;
  return { session_id, status: 'failed', error: { code: 'INVALID_REQUEST', message } };
}
