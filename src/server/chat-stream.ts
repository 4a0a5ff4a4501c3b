// A reply as a body of server-sent events, at the pace of its reader. The next event is requested when there is room for it. A reader that
// stalls therefore stalls the engine, and only one event is in memory.
import type { ChatEvent, ChatReply } from '../service/chat-event.ts';
import { failureBody } from '../service/result.ts';
import { encodeEvent, encodeFailure, thinkingEvent } from '../wire/chat-event-encoding.ts';
import { publicFailure, withSession } from './public-failure.ts';
import type { ByteStream, ReadResult } from './responses.ts';
import type { RunningReply } from './running-replies.ts';

export interface ChatStreamOptions {
  readonly requestId: string;
  readonly heartbeatMs: number;
  /** Called with a complete reply, before `onEnd`. */
  onDone(reply: ChatReply): void;
  /** Called once, when the reply is stored, with its failure or null. */
  onEnd(error: unknown): void;
}

type StreamedReply = Pick<RunningReply, 'signal' | 'clientDisconnected'>;
type Start = Extract<ChatEvent, { event: 'session' }>;

/** A large event, such as `done` with its whole reply, is handed over in chunks of this many bytes. */
const chunkBytes = 16 * 1024;
const heartbeat = Buffer.from(': still here\n\n');
const thinking = Buffer.from(thinkingEvent);
const noBytes = Buffer.alloc(0);

export class ChatStream implements ByteStream {
  readonly #start: Start;
  readonly #events: AsyncIterator<ChatEvent>;
  readonly #reply: StreamedReply;
  readonly #options: ChatStreamOptions;
  /** The part of the current event that was not handed over yet. */
  #rest: Buffer;
  #isFilling = false;
  #isWaiting = false;
  /** True if the event `thinking` was sent since the last event of the turn. */
  #hasSentThinking = false;
  /** The reader that waits for bytes; null while none does. */
  #waitingReader: ((result: ReadResult) => void) | null = null;
  #isOver = false;
  #isClosed = false;
  #cutting: Promise<void> | null = null;
  readonly #beat: NodeJS.Timeout;

  constructor(
    start: Start,
    events: AsyncIterator<ChatEvent>,
    reply: StreamedReply,
    options: ChatStreamOptions,
  ) {
    this.#start = start;
    this.#events = events;
    this.#reply = reply;
    this.#options = options;
    this.#rest = Buffer.from(encodeEvent(start));
    this.#beat = setInterval(() => this.#sendWhileWaiting(heartbeat), options.heartbeatMs);
    this.#beat.unref();
    // A stalled reader requests no events, but a stopping server must still stop the engine.
    reply.signal.addEventListener('abort', () => this.#endIfStopped(), { once: true });
    // The client may have disconnected while its message was stored. Without a reader the turn would never end.
    this.#endIfStopped();
  }

  /** Resolves with the next bytes. No event is read before it is asked for. Only one call may wait. */
  read(): Promise<ReadResult> {
    return new Promise((resolve) => {
      this.#waitingReader = resolve;
      if (this.#rest.length > 0) this.#deliver();
      else if (!this.#isFilling) void this.#fill();
    });
  }

  /** The reader wants no more bytes. */
  cancel(): void {
    if (this.#isClosed) return;
    this.#endBody();
    this.#reply.clientDisconnected();
  }

  /** Tells the reader that the model thinks. Hidden reasoning may come in thousands of pieces, so they are reported once. */
  showThinking(): void {
    if (!this.#hasSentThinking) this.#hasSentThinking = this.#sendWhileWaiting(thinking);
  }

  /** Sends bytes while the next event is awaited. Returns false if the reader has not taken the earlier bytes. */
  #sendWhileWaiting(bytes: Buffer): boolean {
    if (!this.#isWaiting || this.#waitingReader === null) return false;
    this.#give(this.#waitingReader, bytes);
    return true;
  }

  /** Gives the next part of the current event to the reader that waits. The body ends after the last event. */
  #deliver(): void {
    if (this.#rest.length === 0) this.#endBody();
    if (this.#waitingReader === null) return;
    this.#give(this.#waitingReader, this.#rest.subarray(0, chunkBytes));
    this.#rest = this.#rest.length > chunkBytes ? this.#rest.subarray(chunkBytes) : noBytes;
  }

  #give(reader: (result: ReadResult) => void, value: Uint8Array): void {
    this.#waitingReader = null;
    reader({ done: false, value });
  }

  #endBody(): void {
    clearInterval(this.#beat);
    this.#isClosed = true;
    this.#waitingReader?.({ done: true, value: undefined });
    this.#waitingReader = null;
  }

  /** Reads the next event, or the failure in its place. After the last event it reads nothing. */
  async #fill(): Promise<void> {
    this.#isFilling = true;
    if (this.#cutting !== null) await this.#cutting;
    try {
      if (this.#isOver || this.#rest.length > 0) return;
      this.#isWaiting = true;
      const { done, value } = await this.#events.next();
      if (done) throw new Error('A chat ended without done.');
      this.#hasSentThinking = false;
      this.#rest = Buffer.from(encodeEvent(value));
      if (value.event !== 'done') return;
      await this.#events.return?.();
      this.#options.onDone(value.data);
      this.#end(null);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isWaiting = false;
      this.#isFilling = false;
      // The reply may have been stopped after the turn made the event, and before the stream received it.
      this.#endIfStopped();
      this.#deliver();
    }
  }

  /** Ends a reply that was stopped. While an event is awaited, the engine fails in its place. */
  #endIfStopped(): void {
    if (this.#reply.signal.aborted && !this.#isWaiting && !this.#isOver) this.#cutting ??= this.#cut();
  }

  /** Ends a reply whose reader does not request more. The received part of the reply is stored. */
  async #cut(): Promise<void> {
    try {
      await this.#events.return?.();
      this.#fail(this.#reply.signal.reason);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const failure = withSession(error, this.#start.data);
    const body = failureBody(publicFailure(failure), this.#options.requestId);
    this.#rest = Buffer.concat([this.#rest, Buffer.from(encodeFailure(body))]);
    this.#end(failure);
  }

  #end(error: unknown): void {
    this.#isOver = true;
    this.#options.onEnd(error);
  }
}
