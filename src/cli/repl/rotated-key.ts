// While the REPL runs, the key of the profile may be revoked and replaced in another terminal. When a call is refused with the old key, it
// is repeated with the new one. A refused call has done nothing. Each call also ends soon after its signal (stoppable-calls.ts).
import type { OpenedBackend } from '../../service/backend-opening.ts';
import type { Call } from '../../service/call.ts';
import type { ChatEvent } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { hasCode } from '../../service/errors.ts';
import type { SessionArchive } from '../../service/session-archive.ts';
import { eventsUntilAbort, soonAfterAbort } from './stoppable-calls.ts';

/** `storedKey` returns the current key of the profile, or null if the profile has none for this backend. */
export function withRotatedKey(
  { backend, apiKey }: OpenedBackend,
  storedKey: () => string | null,
): OpenedBackend {
  const key = new RotatedKey(apiKey, storedKey);
  return {
    backend: {
      service: serviceWith(backend.service, key),
      archive: archiveWith(backend.archive, key),
      administration: backend.administration,
      get extensions() {
        return backend.extensions;
      },
      close: () => backend.close(),
    },
    get apiKey() {
      return key.current;
    },
  };
}

class RotatedKey {
  current: string;
  readonly #storedKey: () => string | null;

  constructor(current: string, storedKey: () => string | null) {
    this.current = current;
    this.#storedKey = storedKey;
  }

  /** The operation, whose call is repeated with the new key if it is refused. */
  retrying<Rest extends readonly unknown[], T>(operation: (call: Call, ...rest: Rest) => Promise<T>) {
    return (call: Call, ...rest: Rest): Promise<T> => {
      const result = operation(call, ...rest).catch((error: unknown) =>
        operation(this.#newCall(call, error), ...rest),
      );
      return soonAfterAbort(result, call.signal);
    };
  }

  /** The events of a turn. The call is repeated with the new key if it was refused before the first event. */
  async *events(call: Call, start: (call: Call) => AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
    let hasBegun = false;
    let other: Call;
    try {
      for await (const event of eventsUntilAbort(start(call), call.signal)) {
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      if (hasBegun) throw error;
      other = this.#newCall(call, error);
    }
    yield* eventsUntilAbort(start(other), other.signal);
  }

  /** Returns the call with the new key. Throws the error if it is not a refused key, or if there is no new key. */
  #newCall(call: Call, error: unknown): Call {
    const isRefused = hasCode(error, 'INVALID_API_KEY');
    const apiKey = isRefused ? this.#storedKey() : null;
    if (apiKey === null || apiKey === call.apiKey) throw error;
    this.current = apiKey;
    return { ...call, apiKey };
  }
}

function serviceWith(service: ConversationService, key: RotatedKey): ConversationService {
  return {
    verify: key.retrying((call) => service.verify(call)),
    models: key.retrying((call) => service.models(call)),
    chat: (call, request, form) => key.events(call, (other) => service.chat(other, request, form)),
    createSession: key.retrying((call, request) => service.createSession(call, request)),
    getSession: key.retrying((call, id) => service.getSession(call, id)),
    deleteSession: key.retrying((call, id) => service.deleteSession(call, id)),
  };
}

function archiveWith(archive: SessionArchive, key: RotatedKey): SessionArchive {
  return {
    listSessions: key.retrying((call, query) => archive.listSessions(call, query)),
    searchSessions: key.retrying((call, request) => archive.searchSessions(call, request)),
    listMessages: key.retrying((call, id, page) => archive.listMessages(call, id, page)),
    changeSession: key.retrying((call, id, changes) => archive.changeSession(call, id, changes)),
    restoreSession: key.retrying((call, id) => archive.restoreSession(call, id)),
    deleteSessions: key.retrying((call, ids) => archive.deleteSessions(call, ids)),
    restoreSessions: key.retrying((call, ids) => archive.restoreSessions(call, ids)),
    pinSessions: key.retrying((call, ids, pinned) => archive.pinSessions(call, ids, pinned)),
    archiveSessions: key.retrying((call, ids, archived) => archive.archiveSessions(call, ids, archived)),
    tagSessions: key.retrying((call, ids, change) => archive.tagSessions(call, ids, change)),
    importSession: key.retrying((call, record) => archive.importSession(call, record)),
    regenerate: (call, id, request, form) =>
      key.events(call, (other) => archive.regenerate(other, id, request, form)),
    undoTurn: key.retrying((call, id) => archive.undoTurn(call, id)),
    redoTurn: key.retrying((call, id) => archive.redoTurn(call, id)),
    forkSession: key.retrying((call, id, request) => archive.forkSession(call, id, request)),
  };
}
