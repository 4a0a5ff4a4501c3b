// The session of a chat with a title, at a server that is not known to take a title with a chat: the interface document has titles for
// created sessions alone (section 2). So the session is made before the message is sent.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import { unknownMode } from '../service/unknown-mode.ts';

export class TitledSessions {
  readonly #service: Pick<ConversationService, 'models' | 'createSession' | 'deleteSession'>;
  readonly #takesTitles: () => boolean;
  /** Names that the server has listed. */
  #modes: ReadonlySet<string> = new Set();

  /** `takesTitles`: whether the server is known, by now, to take a title with a chat. */
  constructor(
    service: Pick<ConversationService, 'models' | 'createSession' | 'deleteSession'>,
    takesTitles: () => boolean,
  ) {
    this.#service = service;
    this.#takesTitles = takesTitles;
  }

  /** The id of the session that was made for the request; null where the request itself takes the title. */
  async begin(call: Call, { mode, title, session_id }: ChatRequest): Promise<string | null> {
    if (title === undefined || session_id !== null || this.#takesTitles()) return null;
    await this.#requireMode(mode, call);
    // The answer that listed the modes may have told it.
    if (this.#takesTitles()) return null;
    const { idempotencyKey: key } = call;
    // A repetition of the turn gets the same session.
    const own = { ...call, idempotencyKey: key === null ? null : `${key}-session` };
    return (await this.#service.createSession(own, { title })).data.session_id;
  }

  /** Of a message that was refused nothing stays, not even the session that was made for it. After any other failure it may be there. */
  async takeBack(call: Call, sessionId: string, error: unknown): Promise<void> {
    if (!(error instanceof ParleyError) || error.kind !== 'input') return;
    // The failure to be told is the first. An empty session may be left.
    await this.#service.deleteSession(call, sessionId).catch(() => {});
  }

  async #requireMode(mode: string, call: Call): Promise<void> {
    if (this.#modes.has(mode)) return;
    const names = (await this.#service.models(call)).data.map(({ name }) => name);
    this.#modes = new Set(names);
    if (!this.#modes.has(mode)) throw unknownMode(mode, names);
  }
}
