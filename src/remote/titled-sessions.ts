// Creates the session of a chat with a title, at a server that is not known to accept titles with chats. In the interface document (section 2)
// only created sessions have titles, so the session is created before the message is sent.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import { unknownMode } from '../service/unknown-mode.ts';

export class TitledSessions {
  readonly #service: Pick<ConversationService, 'models' | 'createSession' | 'deleteSession'>;
  readonly #acceptsTitles: () => boolean;
  /** Names of modes that the server has listed. */
  #modes: ReadonlySet<string> = new Set();

  /** `acceptsTitles`: returns true if the server is known to accept a title with a chat. */
  constructor(
    service: Pick<ConversationService, 'models' | 'createSession' | 'deleteSession'>,
    acceptsTitles: () => boolean,
  ) {
    this.#service = service;
    this.#acceptsTitles = acceptsTitles;
  }

  /** Creates a session for the request and returns its id; null if the title can be sent with the request. */
  async create(call: Call, request: ChatRequest): Promise<string | null> {
    const { mode, title, session_id } = request;
    if (title === undefined || session_id !== null || mode === null || this.#acceptsTitles()) return null;
    await this.#requireMode(mode, call);
    // The response that listed the modes may have shown that the server accepts titles.
    if (this.#acceptsTitles()) return null;
    const { idempotencyKey: key } = call;
    // A repeated turn gets the same session.
    const createCall = { ...call, idempotencyKey: key === null ? null : `${key}-session` };
    const { system, parameters, user } = request;
    const settings = {
      ...(system != null && { system }),
      ...(parameters && { parameters }),
      ...(user !== undefined && { user }),
    };
    return (await this.#service.createSession(createCall, { title, ...settings })).data.session_id;
  }

  /**
   * Deletes the session that was created for a message that the server refused. After any other failure the session stays, because it may
   * contain the message.
   */
  async deleteIfRefused(call: Call, sessionId: string, error: unknown): Promise<void> {
    if (!(error instanceof ParleyError) || error.kind !== 'input') return;
    // The first failure is reported. An empty session may stay.
    await this.#service.deleteSession(call, sessionId).catch(() => {});
  }

  async #requireMode(mode: string, call: Call): Promise<void> {
    if (this.#modes.has(mode)) return;
    const names = (await this.#service.models(call)).data.map(({ name }) => name);
    this.#modes = new Set(names);
    if (!this.#modes.has(mode)) throw unknownMode(mode, names);
  }
}
