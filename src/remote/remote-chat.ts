// One turn at a server elsewhere, of a new message or of the last one again: the request is sent, perhaps more than once, and the reply is read, streamed or whole. A reply that broke
// off is never taken for a complete one.
import { isEventStream, readEventStream } from '../http/event-stream.ts';
import { fieldOf } from '../http/foreign-json.ts';
import { HttpFailure } from '../http/http-failure.ts';
import type { HttpResponse } from '../http/http-response.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatStart } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import { quoted } from '../service/quoted.ts';
import { chatReply, replyOf, reportedMode, sessionIdOf } from '../wire/chat-response.ts';
import { asksToRetry } from '../wire/error-status.ts';
import type { StreamedOperation } from '../wire/routes.ts';
import { readStreamEvent } from '../wire/stream-event.ts';
import { successBody } from '../wire/success-body.ts';
import { failureOf, incompleteReply } from './failure.ts';
import { redactError } from './failure-redaction.ts';
import type { OperationRequest, RemoteConnection } from './remote-connection.ts';
import { StreamedText } from './streamed-text.ts';

/** The most bytes of one event. The event `done` holds the whole reply. */
const mostEventBytes = 64 * 1024 * 1024;
/** The most characters of a streamed reply and its reasoning: twice what a Parley server takes from a model. */
const mostCharacters = 16 * 1024 * 1024;

export interface RemoteChat {
  readonly operation: StreamedOperation;
  readonly input: OperationRequest;
  /** The session that the reply belongs to; null for a new one. */
  readonly sessionId: string | null;
  /** The mode that was asked for; empty if the server chooses it. */
  readonly mode: string;
  readonly replyPointer: readonly string[] | null;
}

/** Yields the events of the turn, as {@link ConversationService.chat} describes them. */
export async function* remoteChat(
  connection: RemoteConnection,
  call: Call,
  request: RemoteChat,
): AsyncGenerator<ChatEvent> {
  const { operation } = request;
  const prepared = connection.prepare(call, operation, request.input);
  const resending = connection.resending(prepared);
  const turn = new RemoteTurn(request);
  for (;;) {
    try {
      const response = await connection.send(prepared);
      if (response.status < 300 && isEventStream(response.header('content-type'))) {
        yield* turn.stream(response, call.notice);
        return;
      }
      const received = await connection.received(prepared, response);
      if (prepared.waits && asksToRetry(received.status) && (await resending.again(received))) continue;
      yield* turn.end(successBody(operation, received));
      return;
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw redactError(error, call.apiKey);
      // After a part of the reply was shown, the request is not sent again: the next reply would be another one.
      if (!turn.isShown && (await resending.again(error))) continue;
      const failure = turn.isBegun ? incompleteReply(error, turn.place) : failureOf(error, 'POST');
      throw redactError(failure, call.apiKey);
    }
  }
}

/** The known facts of the running turn. */
class RemoteTurn {
  readonly #request: RemoteChat;
  #start: ChatStart | null = null;
  readonly #text = new StreamedText();
  #characters = 0;
  #isBegun = false;
  #isShown = false;

  constructor(request: RemoteChat) {
    this.#request = request;
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  get isShown(): boolean {
    return this.#isShown;
  }

  get place(): { readonly session_id?: string; readonly message_id?: string } {
    const session_id = this.#start?.session_id ?? this.#request.sessionId;
    const message_id = this.#start?.message_id ?? '';
    return { ...(session_id !== null && { session_id }), ...(message_id !== '' && { message_id }) };
  }

  async *stream(response: HttpResponse, notice: Call['notice']): AsyncGenerator<ChatEvent> {
    this.#isBegun = true;
    for await (const { event, data } of readEventStream(response.stream(), mostEventBytes)) {
      const read = readStreamEvent(event, data);
      switch (read?.kind) {
        case 'session':
          yield* this.#begin(read.sessionId, read.messageId, read.mode);
          break;
        case 'text':
          this.#isShown = true;
          this.#characters += read.text.length;
          if (this.#characters > mostCharacters) {
            throw new HttpFailure(
              'unreadable',
              true,
              `the reply is longer than ${mostCharacters} characters`,
            );
          }
          if (read.event === 'delta') this.#text.add(read.text);
          yield { event: read.event, data: { text: read.text } };
          break;
        case 'thinking':
          notice?.({ kind: 'thinking' });
          break;
        case 'done':
          this.#compare(read.body);
          yield* this.end(read.body);
          return;
        case 'error':
          throw this.#placed(read.error);
        case 'unreadable':
          throw new HttpFailure('unreadable', true, `its event ${quoted(event)} cannot be read`);
      }
    }
    throw new HttpFailure('broken', true, 'the stream ended without its last event');
  }

  /** Yields the end of a complete reply. Its JSON answer arrived alone, or as the last event. */
  *end(body: unknown): Generator<ChatEvent> {
    const session_id = sessionIdOf(body) ?? this.#start?.session_id ?? this.#request.sessionId;
    if (session_id === null) {
      throw new ParleyError('BAD_RESPONSE', 'The answer names no session, so the chat cannot go on.', {
        remedy: { kind: 'show_answer' },
        body,
      });
    }
    yield* this.#begin(session_id, null, this.#request.mode === '' ? reportedMode(body) : null);
    const reply = replyOf(body, this.#request.replyPointer) ?? this.#text.toString();
    if (reply === '') throw isCutIn(body) ? this.#cutReply() : this.#noReply(body);
    const certain = { session_id, mode: this.#start?.mode ?? this.#request.mode, reply };
    yield { event: 'done', data: chatReply(certain, body), body };
  }

  /**
   * Throws if the streamed reply differs from the reply that the server says it stores, apart from white space at the ends. A third-party
   * server need not repeat the reply, and a profile may name another place for it; nothing is compared then.
   */
  #compare(body: unknown): void {
    const kept = fieldOf(fieldOf(body, 'data'), 'reply');
    const streamed = this.#text.toString().trim();
    if (this.#request.replyPointer !== null || typeof kept !== 'string' || streamed === '') return;
    if (kept.trim() === streamed) return;
    const message = 'The streamed reply differs from the reply that the server stores.';
    throw new ParleyError('BAD_RESPONSE', message, {
      hint: 'Do not rely on what was shown: read the reply in the session.',
      ...this.place,
    });
  }

  /** A request that was sent again begins the same turn again, so `session` is yielded once. */
  *#begin(sessionId: string | null, messageId: string | null, mode: string | null): Generator<ChatEvent> {
    if (this.#start !== null || sessionId === null) return;
    this.#start = { session_id: sessionId, message_id: messageId ?? '', mode: mode ?? this.#request.mode };
    yield { event: 'session', data: this.#start };
  }

  /** The turn of a repeated key may have been cut before its reply had any text. */
  #cutReply(): ParleyError {
    const message = 'The turn was cut before its reply had any text. Its message is kept.';
    return new ParleyError('INCOMPLETE_REPLY', message, { ...this.place });
  }

  #noReply(body: unknown): ParleyError {
    const message =
      this.#request.replyPointer === null
        ? 'The server answered, but Parley found no reply in the answer, or an empty one.'
        : 'The server answered, but there is no reply where the profile says that it is (reply_pointer).';
    return new ParleyError('BAD_RESPONSE', message, {
      remedy: { kind: 'name_reply_pointer' },
      ...this.place,
      body,
    });
  }

  #placed(error: ParleyError): ParleyError {
    const { session_id = null, message_id = null } = this.place;
    return error.with({
      session_id: error.session_id ?? session_id,
      message_id: error.message_id ?? message_id,
    });
  }
}

function isCutIn(body: unknown): boolean {
  const finish = fieldOf(fieldOf(body, 'data'), 'finish_reason');
  return finish === 'interrupted' || finish === 'error';
}
