// While the REPL runs, the key of the profile may be revoked and replaced in another terminal. When a call is refused with the old key, it
// is repeated with the new one. A refused call has done nothing.
import type { OpenedBackend } from '../../service/backend-opening.ts';
import type { Call } from '../../service/call.ts';
import type { ChatEvent } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import type { SessionArchive } from '../../service/session-archive.ts';

/** `storedKey` returns the current key of the profile, or null if the profile has none for this backend. */
export function withRotatedKey(
  { backend, apiKey }: OpenedBackend,
  storedKey: () => string | null,
): OpenedBackend {
  let current = apiKey;
  /** Returns the call with the new key. Throws the error if it is not a refused key, or if there is no new key. */
  const callWithNewKey = (call: Call, error: unknown): Call => {
    const isRefused = error instanceof ParleyError && error.code === 'INVALID_API_KEY';
    const key = isRefused ? storedKey() : null;
    if (key === null || key === call.apiKey) throw error;
    current = key;
    return { ...call, apiKey: key };
  };
  const retrying =
    <Rest extends readonly unknown[], T>(operation: (call: Call, ...rest: Rest) => Promise<T>) =>
    (call: Call, ...rest: Rest): Promise<T> =>
      operation(call, ...rest).catch((error: unknown) => operation(callWithNewKey(call, error), ...rest));
  const { service, archive, administration } = backend;
  return {
    backend: {
      service: serviceWith(service, retrying, callWithNewKey),
      archive: archiveWith(archive, retrying, callWithNewKey),
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

type CallWithNewKey = (call: Call, error: unknown) => Call;

type Retrying = <Rest extends readonly unknown[], T>(
  operation: (call: Call, ...rest: Rest) => Promise<T>,
) => (call: Call, ...rest: Rest) => Promise<T>;

function serviceWith(
  service: ConversationService,
  retrying: Retrying,
  callWithNewKey: CallWithNewKey,
): ConversationService {
  return {
    verify: retrying((call) => service.verify(call)),
    models: retrying((call) => service.models(call)),
    chat: (call, request, form) =>
      events(call, (other) => service.chat(other, request, form), callWithNewKey),
    createSession: retrying((call, request) => service.createSession(call, request)),
    getSession: retrying((call, id) => service.getSession(call, id)),
    deleteSession: retrying((call, id) => service.deleteSession(call, id)),
  };
}

/** The events of a turn. The call is repeated with the new key if it was refused before the first event. */
async function* events(
  call: Call,
  start: (call: Call) => AsyncIterable<ChatEvent>,
  callWithNewKey: CallWithNewKey,
): AsyncGenerator<ChatEvent> {
  let hasBegun = false;
  let other: Call;
  try {
    for await (const event of start(call)) {
      hasBegun = true;
      yield event;
    }
    return;
  } catch (error) {
    if (hasBegun) throw error;
    other = callWithNewKey(call, error);
  }
  yield* start(other);
}

function archiveWith(
  archive: SessionArchive,
  retrying: Retrying,
  callWithNewKey: CallWithNewKey,
): SessionArchive {
  return {
    listSessions: retrying((call, query) => archive.listSessions(call, query)),
    searchSessions: retrying((call, request) => archive.searchSessions(call, request)),
    listMessages: retrying((call, id, page) => archive.listMessages(call, id, page)),
    changeSession: retrying((call, id, changes) => archive.changeSession(call, id, changes)),
    restoreSession: retrying((call, id) => archive.restoreSession(call, id)),
    deleteSessions: retrying((call, ids) => archive.deleteSessions(call, ids)),
    restoreSessions: retrying((call, ids) => archive.restoreSessions(call, ids)),
    pinSessions: retrying((call, ids, pinned) => archive.pinSessions(call, ids, pinned)),
    archiveSessions: retrying((call, ids, archived) => archive.archiveSessions(call, ids, archived)),
    tagSessions: retrying((call, ids, change) => archive.tagSessions(call, ids, change)),
    importSession: retrying((call, record) => archive.importSession(call, record)),
    regenerate: (call, id, request, form) =>
      events(call, (other) => archive.regenerate(other, id, request, form), callWithNewKey),
    undoTurn: retrying((call, id) => archive.undoTurn(call, id)),
    redoTurn: retrying((call, id) => archive.redoTurn(call, id)),
    forkSession: retrying((call, id, request) => archive.forkSession(call, id, request)),
  };
}
