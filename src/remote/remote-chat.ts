// One turn at a remote server, for a new message or for the last one again. The request may be sent more than once. The reply is read as a
// stream or as a whole. A reply that was cut off never counts as complete.
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

/** The most bytes of one event. The event `done` holds the whole reply. */
const maxEventBytes = 64 * 1024 * 1024;
/** The most characters of a streamed reply and its reasoning: twice what a Parley server takes from a model. */
const maxCharacters = 16 * 1024 * 1024;

export interface RemoteChat {
  readonly operation: StreamedOperation;
  readonly input: OperationRequest;
  /** The session that the reply belongs to; null for a new one. */
  readonly sessionId: string | null;
  /** The requested mode; empty if the server chooses it. */
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
  const preparedRequest = connection.prepare(call, operation, request.input);
  const retries = connection.retries(preparedRequest);
  const turn = new RemoteTurn(request);
  for (;;) {
    try {
      const response = await connection.send(preparedRequest);
      if (response.status < 300 && isEventStream(response.header('content-type'))) {
        yield* turn.stream(response, call.notice);
        return;
      }
      const received = await connection.readResponse(preparedRequest, response);
      if (preparedRequest.waits && asksToRetry(received.status) && (await retries.next(received))) continue;
      yield* turn.end(successBody(operation, received));
      return;
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw redactError(error, call.apiKey);
      // After a part of the reply was shown, the request is not sent again, because the next reply would differ.
      if (!turn.isShown && (await retries.next(error))) continue;
      const failure = turn.hasBegun ? incompleteReply(error, turn.place) : failureOf(error, 'POST');
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
  #hasBegun = false;
  #isShown = false;

  constructor(request: RemoteChat) {
    this.#request = request;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
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
    this.#hasBegun = true;
    for await (const { event, data } of readEventStream(response.stream(), maxEventBytes)) {
      const streamEvent = readStreamEvent(event, data);
      switch (streamEvent?.kind) {
        case 'session':
          yield* this.#begin(streamEvent.sessionId, streamEvent.messageId, streamEvent.mode);
          break;
        case 'text':
          this.#isShown = true;
          this.#characters += streamEvent.text.length;
          if (this.#characters > maxCharacters) {
            throw new HttpFailure('unreadable', `the reply is longer than ${maxCharacters} characters`);
          }
          if (streamEvent.event === 'delta') this.#text.add(streamEvent.text);
          yield { event: streamEvent.event, data: { text: streamEvent.text } };
          break;
        case 'thinking':
          notice?.({ kind: 'thinking' });
          break;
        case 'done':
          this.#compare(streamEvent.body);
          yield* this.end(streamEvent.body);
          return;
        case 'error':
          throw this.#withPlace(streamEvent.error);
        case 'unreadable':
          throw new HttpFailure('unreadable', `its event ${quoted(event)} cannot be read`);
      }
    }
    throw new HttpFailure('broken', 'the stream ended without its last event');
  }

  /** Yields the end of a complete reply. `body` is the JSON response, or the data of the last event. */
  *end(body: unknown): Generator<ChatEvent> {
    const session_id = sessionIdOf(body) ?? this.#start?.session_id ?? this.#request.sessionId;
    if (session_id === null) {
      throw new ParleyError('BAD_RESPONSE', 'The response names no session, so the chat cannot continue.', {
        remedy: { kind: 'show_answer' },
        body,
      });
    }
    yield* this.#begin(session_id, null, this.#request.mode === '' ? reportedMode(body) : null);
    const reply = replyOf(body, this.#request.replyPointer) ?? this.#text.toString();
    if (reply === '') throw isCut(body) ? this.#cutReply() : this.#noReply(body);
    const known = { session_id, mode: this.#start?.mode ?? this.#request.mode, reply };
    yield { event: 'done', data: chatReply(known, body), body };
  }

  /**
   * Throws if the streamed reply differs from the reply in the event `done`, apart from white space at the ends. The replies are not compared
   * if a third-party server does not repeat the reply, or if a profile names another place for it.
   */
  #compare(body: unknown): void {
    const storedReply = fieldOf(fieldOf(body, 'data'), 'reply');
    const streamedReply = this.#text.toString().trim();
    if (this.#request.replyPointer !== null || typeof storedReply !== 'string' || streamedReply === '')
      return;
    if (storedReply.trim() === streamedReply) return;
    const message = 'The streamed reply differs from the reply that the server stores.';
    throw new ParleyError('BAD_RESPONSE', message, {
      hint: 'Do not rely on what was shown: read the reply in the session.',
      ...this.place,
    });
  }

  /** Yields `session` once, because a request that is sent again begins the same turn again. */
  *#begin(sessionId: string | null, messageId: string | null, mode: string | null): Generator<ChatEvent> {
    if (this.#start !== null || sessionId === null) return;
    this.#start = { session_id: sessionId, message_id: messageId ?? '', mode: mode ?? this.#request.mode };
    yield { event: 'session', data: this.#start };
  }

  /** The turn of a repeated idempotency key may have been cut before its reply had any text. */
  #cutReply(): ParleyError {
    const message = 'The turn was cut before its reply had any text. Its message is kept.';
    return new ParleyError('INCOMPLETE_REPLY', message, { ...this.place });
  }

  #noReply(body: unknown): ParleyError {
    const message =
      this.#request.replyPointer === null
        ? 'The response of the server contains no reply, or an empty one.'
        : 'The response of the server contains no reply at the reply_pointer of the profile.';
    return new ParleyError('BAD_RESPONSE', message, {
      remedy: { kind: 'name_reply_pointer' },
      ...this.place,
      body,
    });
  }

  #withPlace(error: ParleyError): ParleyError {
    const { session_id = null, message_id = null } = this.place;
    return error.with({
      session_id: error.session_id ?? session_id,
      message_id: error.message_id ?? message_id,
    });
  }
}

const maxChunks = 4096;

/**
 * Collects the text of a streamed reply. V8 represents concatenated strings as a tree, which takes 32 bytes for each chunk of one character.
 * Joined arrays take less.
 */
class StreamedText {
  readonly #joined: string[] = [];
  #chunks: string[] = [];

  add(chunk: string): void {
    this.#chunks.push(chunk);
    if (this.#chunks.length < maxChunks) return;
    this.#joined.push(this.#chunks.join(''));
    this.#chunks = [];
  }

  toString(): string {
    return [...this.#joined, ...this.#chunks].join('');
  }
}

function isCut(body: unknown): boolean {
  const finish = fieldOf(fieldOf(body, 'data'), 'finish_reason');
  return finish === 'interrupted' || finish === 'error';
}
