// While the REPL runs, the key of the profile may be revoked and replaced in another terminal. The new key is used from the first call
// that refuses the old one. A refused call has done nothing, so it is made again.
import type { OpenedBackend } from '../../service/backend-opening.ts';
import type { Call } from '../../service/call.ts';
import type { ChatEvent } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import type { SessionArchive } from '../../service/session-archive.ts';

/** `storedKey` returns the key that the profile has now, or null if it has none for this backend. */
export function withRotatedKey(
  { backend, apiKey }: OpenedBackend,
  storedKey: () => string | null,
): OpenedBackend {
  let current = apiKey;
  /** Returns the call to make instead. Throws the error if there is none. */
  const instead = (call: Call, error: unknown): Call => {
    const isRefused = error instanceof ParleyError && error.code === 'INVALID_API_KEY';
    const key = isRefused ? storedKey() : null;
    if (key === null || key === call.apiKey) throw error;
    current = key;
    return { ...call, apiKey: key };
  };
  const following =
    <Rest extends readonly unknown[], T>(operation: (call: Call, ...rest: Rest) => Promise<T>) =>
    (call: Call, ...rest: Rest): Promise<T> =>
      operation(call, ...rest).catch((error: unknown) => operation(instead(call, error), ...rest));
  const { service, archive, administration } = backend;
  return {
    backend: {
      service: serviceWith(service, following, instead),
      archive: archiveWith(archive, following, instead),
      administration,
      get extensions() {
        return backend.extensions;
      },
      close: () => backend.close(),
    },
    get apiKey() {
      return current;
    },
  };
}

type Instead = (call: Call, error: unknown) => Call;

type Following = <Rest extends readonly unknown[], T>(
  operation: (call: Call, ...rest: Rest) => Promise<T>,
) => (call: Call, ...rest: Rest) => Promise<T>;

function serviceWith(
  service: ConversationService,
  following: Following,
  instead: Instead,
): ConversationService {
  return {
    verify: following((call) => service.verify(call)),
    models: following((call) => service.models(call)),
    chat: (call, request, form) => events(call, (other) => service.chat(other, request, form), instead),
    createSession: following((call, request) => service.createSession(call, request)),
    getSession: following((call, id) => service.getSession(call, id)),
    deleteSession: following((call, id) => service.deleteSession(call, id)),
  };
}

/** The events of a turn, with the other key if the call was refused before the first event. */
async function* events(
  call: Call,
  ask: (call: Call) => AsyncIterable<ChatEvent>,
  instead: Instead,
): AsyncGenerator<ChatEvent> {
  let begun = false;
  let other: Call;
  try {
    for await (const event of ask(call)) {
      begun = true;
      yield event;
    }
    return;
  } catch (error) {
    if (begun) throw error;
    other = instead(call, error);
  }
  yield* ask(other);
}

function archiveWith(archive: SessionArchive, following: Following, instead: Instead): SessionArchive {
  return {
    listSessions: following((call, query) => archive.listSessions(call, query)),
    searchSessions: following((call, request) => archive.searchSessions(call, request)),
    listMessages: following((call, id, page) => archive.listMessages(call, id, page)),
    changeSession: following((call, id, changes) => archive.changeSession(call, id, changes)),
    restoreSession: following((call, id) => archive.restoreSession(call, id)),
    deleteSessions: following((call, ids) => archive.deleteSessions(call, ids)),
    restoreSessions: following((call, ids) => archive.restoreSessions(call, ids)),
    pinSessions: following((call, ids, pinned) => archive.pinSessions(call, ids, pinned)),
    archiveSessions: following((call, ids, archived) => archive.archiveSessions(call, ids, archived)),
    tagSessions: following((call, ids, change) => archive.tagSessions(call, ids, change)),
    importSession: following((call, record) => archive.importSession(call, record)),
    regenerate: (call, id, request, form) =>
      events(call, (other) => archive.regenerate(other, id, request, form), instead),
    undoTurn: following((call, id) => archive.undoTurn(call, id)),
    redoTurn: following((call, id) => archive.redoTurn(call, id)),
    forkSession: following((call, id, request) => archive.forkSession(call, id, request)),
  };
}
