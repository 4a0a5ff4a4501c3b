// A reply as a body of server-sent events, at the pace of its reader. The next event is requested when there is room for it. A reader that
// stalls therefore stalls the engine, and only one event is in memory.
import type { ChatEvent, ChatReply } from '../service/chat-event.ts';
import { failureBody } from '../service/result.ts';
import { encodeEvent, encodeFailure, thinkingEvent } from '../wire/chat-event-encoding.ts';
import { publicFailure, withSession } from './public-failure.ts';
import type { RunningReply } from './running-replies.ts';

interface ChatStreamOptions {
  readonly requestId: string;
  readonly heartbeatMs: number;
  /** Called with a complete reply, before `onEnd`. */
  onDone(reply: ChatReply): void;
  /** Called once, when the reply is stored, with its failure or null. */
  onEnd(error: unknown): void;
}

type Start = Extract<ChatEvent, { event: 'session' }>;

/** A large event, such as `done` with its whole reply, is handed over in chunks of this many bytes. */
const chunkBytes = 16 * 1024;
const heartbeat = Buffer.from(': still here\n\n');
const thinking = Buffer.from(thinkingEvent);

export class ChatStream {
  readonly #start: Start;
  readonly #events: AsyncIterator<ChatEvent>;
  readonly #reply: RunningReply;
  readonly #options: ChatStreamOptions;
  /** The part of the current event that was not handed over yet. */
  #rest: Buffer;
  #isWaiting = false;
  /** True if the event `thinking` was sent since the last event of the turn. */
  #hasSentThinking = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #isOver = false;
  #cutting: Promise<void> | null = null;

  constructor(
    start: Start,
    events: AsyncIterator<ChatEvent>,
    reply: RunningReply,
    options: ChatStreamOptions,
  ) {
    this.#start = start;
    this.#events = events;
    this.#reply = reply;
    this.#options = options;
    this.#rest = Buffer.from(encodeEvent(start));
  }

  body(): ReadableStream<Uint8Array> {
    let beat: NodeJS.Timeout;
    // With `highWaterMark: 0` no chunk is made before it is asked for.
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          beat = setInterval(() => this.#sendWhileWaiting(heartbeat), this.#options.heartbeatMs);
          beat.unref();
          // A stalled reader requests no events, but a stopping server must still stop the engine.
          this.#reply.signal.addEventListener('abort', () => this.#endIfStopped(), { once: true });
          // The client may have disconnected while its message was stored. Without a reader the turn would never end.
          this.#endIfStopped();
        },
        pull: async (controller) => {
          if (this.#rest.length === 0) await this.#fill();
          if (this.#rest.length === 0) {
            clearInterval(beat);
            this.#controller = null;
            controller.close();
            return;
          }
          controller.enqueue(this.#rest.subarray(0, chunkBytes));
          this.#rest = this.#rest.subarray(chunkBytes);
        },
        cancel: () => {
          clearInterval(beat);
          this.#controller = null;
          this.#reply.clientDisconnected();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Tells the reader that the model thinks. Hidden reasoning may come in thousands of pieces, so they are reported once. */
  showThinking(): void {
    if (!this.#hasSentThinking) this.#hasSentThinking = this.#sendWhileWaiting(thinking);
  }

  /** Sends bytes while the next event is awaited. Returns false if the reader has not taken the earlier bytes. */
  #sendWhileWaiting(bytes: Buffer): boolean {
    if (!this.#isWaiting || this.#controller?.desiredSize !== 0) return false;
    this.#controller.enqueue(bytes);
    return true;
  }

  /** Reads the next event, or the failure in its place. After the last event it reads nothing. */
  async #fill(): Promise<void> {
    if (this.#cutting !== null) await this.#cutting;
    if (this.#isOver || this.#rest.length > 0) return;
    this.#isWaiting = true;
    try {
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
      // The reply may have been stopped after the turn made the event, and before the stream received it.
      this.#endIfStopped();
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
