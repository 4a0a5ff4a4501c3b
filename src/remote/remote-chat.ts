// One turn at a server elsewhere: the request, its sendings, and the reply as it comes, streamed or whole. What broke off is never
// taken for a reply.
import { isEventStream, readEventStream } from '../http/event-stream.ts';
import type { HttpAnswer } from '../http/http-answer.ts';
import { HttpFailure } from '../http/http-failure.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ChatStart, ReplyForm } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import { successBody } from '../wire/answer-body.ts';
import { chatReply, replyOf, sessionIdOf } from '../wire/chat-answer.ts';
import { fieldOf } from '../wire/json-value.ts';
import { readStreamEvent } from '../wire/stream-event.ts';
import { failureOf, incompleteReply } from './failure.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { isTurnedAway } from './resending.ts';
import { StreamedText } from './streamed-text.ts';

/** Of one event: `done` holds the whole reply. */
const mostEventBytes = 64 * 1024 * 1024;
/** Of a streamed reply and its reasoning: twice what a server of ours lets a model say. */
const mostCharacters = 16 * 1024 * 1024;

interface RemoteChatOptions {
  /** A reply that is wanted whole is asked for as one body in JSON: that costs both sides less. */
  readonly form: ReplyForm;
  readonly replyPointer: readonly string[] | null;
}

export async function* remoteChat(
  connection: RemoteConnection,
  call: Call,
  request: ChatRequest,
  { form, replyPointer }: RemoteChatOptions,
): AsyncGenerator<ChatEvent> {
  const { mode, message, session_id } = request;
  const body = { mode, message, ...(session_id !== null && { session_id }) };
  const prepared = connection.prepare(call, 'chat', { body, streams: form === 'pieces' });
  const resending = connection.resending(prepared);
  const turn = new RemoteTurn(request, replyPointer);
  for (;;) {
    try {
      const answer = await connection.send(prepared);
      if (answer.status < 300 && isEventStream(answer.header('content-type'))) {
        yield* turn.stream(answer);
        return;
      }
      const received = await connection.received(prepared, answer);
      if (prepared.waits && isTurnedAway(received.status) && (await resending.again(received))) continue;
      yield* turn.end(successBody('chat', received));
      return;
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      // Once a part of the reply was shown, it is not asked for again: what came then would be another reply.
      if (!turn.isShown && (await resending.again(error))) continue;
      throw turn.isBegun ? incompleteReply(error, turn.place) : failureOf(error, 'POST');
    }
  }
}

/** What is known of the turn so far. */
class RemoteTurn {
  readonly #request: ChatRequest;
  readonly #replyPointer: readonly string[] | null;
  #start: ChatStart | null = null;
  readonly #text = new StreamedText();
  #characters = 0;
  #isBegun = false;
  #isShown = false;

  constructor(request: ChatRequest, replyPointer: readonly string[] | null) {
    this.#request = request;
    this.#replyPointer = replyPointer;
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  get isShown(): boolean {
    return this.#isShown;
  }

  get place(): { readonly session_id?: string; readonly message_id?: string } {
    const session_id = this.#start?.session_id ?? this.#request.session_id;
    const message_id = this.#start?.message_id ?? '';
    return { ...(session_id !== null && { session_id }), ...(message_id !== '' && { message_id }) };
  }

  async *stream(answer: HttpAnswer): AsyncGenerator<ChatEvent> {
    this.#isBegun = true;
    for await (const { event, data } of readEventStream(answer.stream(), mostEventBytes)) {
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
        case 'done':
          this.#compare(read.body);
          yield* this.end(read.body);
          return;
        case 'error':
          throw this.#placed(read.error);
        case 'unreadable':
          throw new HttpFailure('unreadable', true, `its event ${JSON.stringify(event)} cannot be read`);
      }
    }
    throw new HttpFailure('broken', true, 'the stream ended without its last event');
  }

  /** The reply is whole: its answer in JSON, sent alone or as the last event. */
  *end(body: unknown): Generator<ChatEvent> {
    const session_id = sessionIdOf(body) ?? this.#start?.session_id ?? this.#request.session_id;
    if (session_id === null) {
      throw new ParleyError('BAD_RESPONSE', 'The answer names no session, so the chat cannot go on.', {
        remedy: { kind: 'show_answer' },
        body,
      });
    }
    yield* this.#begin(session_id, null, null);
    const reply = replyOf(body, this.#replyPointer) ?? this.#text.toString();
    if (reply === '') throw this.#noReply(body);
    const certain = { session_id, mode: this.#start?.mode ?? this.#request.mode, reply };
    yield { event: 'done', data: chatReply(certain, body), body };
  }

  /**
   * Throws where the stream told another reply than the one that the server says it keeps, white space at the ends aside. Other servers
   * need not repeat the reply, and a profile may name another place for it.
   */
  #compare(body: unknown): void {
    const kept = fieldOf(fieldOf(body, 'data'), 'reply');
    const streamed = this.#text.toString().trim();
    if (this.#replyPointer !== null || typeof kept !== 'string' || streamed === '') return;
    if (kept.trim() === streamed) return;
    const message = 'The reply that was streamed is not the one that the server gave at its end, and keeps.';
    throw new ParleyError('BAD_RESPONSE', message, {
      hint: 'Do not rely on what was shown: read the reply in the session.',
      ...this.place,
    });
  }

  /** A repetition of the request begins the same turn again: it is told once. */
  *#begin(sessionId: string | null, messageId: string | null, mode: string | null): Generator<ChatEvent> {
    if (this.#start !== null || sessionId === null) return;
    this.#start = { session_id: sessionId, message_id: messageId ?? '', mode: mode ?? this.#request.mode };
    yield { event: 'session', data: this.#start };
  }

  #noReply(body: unknown): ParleyError {
    const message =
      this.#replyPointer === null
        ? 'The server answered, but there is no reply in its answer where Parley looks for one, or an empty one.'
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
