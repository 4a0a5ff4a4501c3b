// The six operations of the interface document at a remote server. Each method is one request.
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ReplyForm } from '../service/chat-event.ts';
import type {
  ConversationService,
  CreateSessionRequest,
  Deletion,
  KeyIdentity,
} from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import type { Mode } from '../service/mode.ts';
import type { Result } from '../service/result.ts';
import { schemaInstructions } from '../service/schema-instructions.ts';
import type { NewSession, Session } from '../service/session.ts';
import { modesOf } from '../wire/mode-list.ts';
import { deletedSessionOf, identityOf, newSessionOf, sessionOf } from '../wire/session-response.ts';
import { successBody } from '../wire/success-body.ts';
import { redactError } from './failure-redaction.ts';
import { remoteChat } from './remote-chat.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { settingsToSend, userToSend } from './session-settings.ts';
import { TitledSessions } from './titled-sessions.ts';

export class RemoteService implements ConversationService {
  readonly #connection: RemoteConnection;
  readonly #replyPointer: readonly string[] | null;
  readonly #titled: TitledSessions;

  /** `replyPointer`: the field names from the top of a chat's response to the reply; null to search for the reply. */
  constructor(connection: RemoteConnection, replyPointer: readonly string[] | null) {
    this.#connection = connection;
    this.#replyPointer = replyPointer;
    // Only Parley's own server has the archive, and it accepts titles with chats.
    this.#titled = new TitledSessions(this, () => connection.offers('archive') === true);
  }

  verify(call: Call): Promise<Result<KeyIdentity>> {
    return this.#connection.result(call, 'verify', {}, identityOf);
  }

  models(call: Call): Promise<Result<readonly Mode[]>> {
    return this.#connection.result(call, 'models', {}, modesOf);
  }

  async *chat(call: Call, original: ChatRequest, form: ReplyForm): AsyncIterable<ChatEvent> {
    const {
      system: _system,
      parameters: _parameters,
      user: _user,
      ...others
    } = await adaptSchema(this.#connection, call, original);
    const user = await userToSend(this.#connection, call, original);
    const request = { ...others, ...user, ...(await settingsToSend(this.#connection, call, original)) };
    const session_id = await this.#titled.create(call, request);
    if (session_id === null) return yield* this.#chat(call, request, form);
    // The created session already has the title and the settings.
    const { mode, message, schema } = request;
    const untitled = { mode, message, session_id, ...(schema !== undefined && { schema }) };
    try {
      yield* this.#chat(call, untitled, form);
    } catch (error) {
      await this.#titled.deleteIfRefused(call, session_id, error);
      throw error;
    }
  }

  #chat(call: Call, request: ChatRequest, form: ReplyForm): AsyncIterable<ChatEvent> {
    const { session_id: sessionId, ...others } = request;
    const body = { ...others, ...(sessionId !== null && { session_id: sessionId }) };
    const input = { body, streams: form === 'chunks' };
    const mode = request.mode ?? '';
    const replyPointer = this.#replyPointer;
    return remoteChat(this.#connection, call, { operation: 'chat', input, sessionId, mode, replyPointer });
  }

  async createSession(call: Call, request: CreateSessionRequest): Promise<Result<NewSession>> {
    const { title } = request;
    const settings = await settingsToSend(this.#connection, call, request);
    const user = await userToSend(this.#connection, call, request);
    const body = { ...(title !== null && { title }), ...settings, ...user };
    return this.#connection.result(call, 'createSession', { body }, newSessionOf);
  }

  getSession(call: Call, sessionId: string): Promise<Result<Session>> {
    const read = (body: unknown) => sessionOf(body, sessionId);
    return this.#connection.result(call, 'getSession', { sessionId }, read);
  }

  async deleteSession(call: Call, sessionId: string): Promise<Deletion> {
    try {
      return await this.#delete(call, sessionId);
    } catch (error) {
      throw redactError(error, call.apiKey);
    }
  }

  async #delete(call: Call, sessionId: string): Promise<Deletion> {
    const prepared = this.#connection.prepare(call, 'deleteSession', { sessionId });
    const { received, mayHaveActed } = await this.#connection.sendWithRetries(prepared);
    let body: unknown = null;
    let repeated = false;
    try {
      body = successBody('deleteSession', received);
    } catch (error) {
      if (!mayHaveActed || !(error instanceof ParleyError)) throw error;
      // A missing session was probably deleted by an earlier attempt whose response was lost.
      if (error.code !== 'SESSION_NOT_FOUND') throw error.with({ mayHaveActed: true });
      repeated = true;
    }
    return { data: deletedSessionOf(body, sessionId), body, repeated };
  }
}

/** The request in a form that the server supports. Without support for schemas, the schema becomes part of the message, in words. */
async function adaptSchema(
  connection: RemoteConnection,
  call: Call,
  request: ChatRequest,
): Promise<ChatRequest> {
  const { schema, ...others } = request;
  if (schema === undefined || (await connection.hasExtension(call, 'schema'))) return request;
  const instructions = schemaInstructions(schema);
  // A message that asks for a correction already contains the instructions.
  if (request.message.includes(instructions)) return others;
  return { ...others, message: `${request.message}\n\n${instructions}` };
}
