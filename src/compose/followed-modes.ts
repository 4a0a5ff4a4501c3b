// A service that uses the current modes in each call, because another process may change the modes during a conversation.
import type { Backend } from '../service/backend.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { beforeAbort } from '../system/before-abort.ts';
import type { ModeSource } from './mode-source.ts';

type Contracts = Pick<Backend, 'service' | 'archive'>;

/**
 * `reload` applies the modes that were read last. `models` rejects if the current modes cannot be read. A turn then continues with the
 * previous ones.
 */
export function followedModes(
  { service, archive }: Contracts,
  modes: Pick<ModeSource, 'refresh'>,
  reload: () => Promise<void>,
): Contracts {
  let isStale = false;
  const follow = async () => {
    isStale = (await modes.refresh()) || isStale;
    if (!isStale) return;
    await reload();
    isStale = false;
  };
  const followed: ConversationService = {
    verify: (call) => service.verify(call),
    async models(call) {
      await beforeAbort(follow(), call.signal);
      return service.models(call);
    },
    async *chat(call, request, form) {
      await beforeAbort(follow(), call.signal).catch(() => {});
      yield* service.chat(call, request, form);
    },
    createSession: (call, request) => service.createSession(call, request),
    getSession: (call, id) => service.getSession(call, id),
    deleteSession: (call, id) => service.deleteSession(call, id),
  };
  return {
    service: followed,
    archive: {
      listSessions: (call, query) => archive.listSessions(call, query),
      searchSessions: (call, request) => archive.searchSessions(call, request),
      listMessages: (call, id, query) => archive.listMessages(call, id, query),
      changeSession: (call, id, changes) => archive.changeSession(call, id, changes),
      restoreSession: (call, id) => archive.restoreSession(call, id),
      deleteSessions: (call, ids) => archive.deleteSessions(call, ids),
      restoreSessions: (call, ids) => archive.restoreSessions(call, ids),
      pinSessions: (call, ids, pinned) => archive.pinSessions(call, ids, pinned),
      archiveSessions: (call, ids, archived) => archive.archiveSessions(call, ids, archived),
      tagSessions: (call, ids, change) => archive.tagSessions(call, ids, change),
      importSession: (call, record) => archive.importSession(call, record),
      async *regenerate(call, id, request, form) {
        await beforeAbort(follow(), call.signal).catch(() => {});
        yield* archive.regenerate(call, id, request, form);
      },
      undoTurn: (call, id) => archive.undoTurn(call, id),
      redoTurn: (call, id) => archive.redoTurn(call, id),
      forkSession: (call, id, request) => archive.forkSession(call, id, request),
    },
  };
}
