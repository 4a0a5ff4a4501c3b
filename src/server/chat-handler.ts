// Responds with a reply, to a new message or to the last one again: the whole reply as JSON, or its events as a stream. A failure before the
// turn begins is an ordinary error response in both forms. A failure after that names the session and the message.
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatReply, ChatStart, ReplyForm } from '../service/chat-event.ts';
import type { ParleyError } from '../service/errors.ts';
import { eventStreamType } from '../wire/headers.ts';
import { ChatStream, type ChatStreamOptions } from './chat-stream.ts';
import { onDisconnect } from './client-disconnected.ts';
import type { KeyWatch } from './key-watch.ts';
import { withSession } from './public-failure.ts';
import type { RateLimit } from './rate-limiter.ts';
import type { RequestContext } from './request-context.ts';
import { jsonResponse, streamResponse } from './responses.ts';
import type { RunningReplies, RunningReply } from './running-replies.ts';

export interface ChatDependencies {
  readonly replies: RunningReplies;
  readonly keys: KeyWatch;
  readonly heartbeatMs: number;
  /** Yields the same events, and counts the turn in the metrics. */
  countTurn(events: AsyncIterable<ChatEvent>): AsyncIterable<ChatEvent>;
  /** Called with the failure of the requested mode when its fallback has replied. */
  onFallback(context: RequestContext, failure: ParleyError): void;
  /** Called when the response starts as a stream. */
  onStreamStart(context: RequestContext): void;
  /** Called when the stream ends, with its failure or null. */
  onStreamEnd(context: RequestContext, error: unknown): void;
}

interface ReplyRequest {
  readonly context: RequestContext;
  readonly request: Request;
  readonly rateLimit: RateLimit;
  readonly call: Call;
}

/** `begin` begins the turn and returns its events, for this call and form. */
export async function respondWithReply(
  dependencies: ChatDependencies,
  replyRequest: ReplyRequest,
  begin: (call: Call, form: ReplyForm) => AsyncIterable<ChatEvent>,
): Promise<Response> {
  const { context, request, call } = replyRequest;
  const streams = prefersStream(request.headers.get('accept'));
  const watched = new WatchedReply(dependencies, replyRequest, streams);
  const { reply } = watched;
  try {
    let stream: ChatStream | null = null;
    const notice = () => stream?.showThinking();
    const turn = begin({ notice, ...call, signal: reply.signal }, streams ? 'chunks' : 'whole');
    const events = dependencies.countTurn(turn)[Symbol.asyncIterator]();
    if (!streams) {
      const response = await wholeResponse(context, events, (done) => watched.onDone(done));
      watched.end();
      return response;
    }
    // The status is decided only after the message is stored.
    const firstEvent = await events.next();
    if (firstEvent.done || firstEvent.value.event !== 'session')
      throw new Error('A chat did not begin with session.');
    stream = new ChatStream(firstEvent.value, events, reply, watched);
    dependencies.onStreamStart(context);
    return streamResponse(context, stream);
  } catch (error) {
    watched.end();
    throw error;
  }
}

/** A running reply, which counts as a stream if it is one, and is stopped when its client disconnects or its key becomes invalid. */
class WatchedReply implements ChatStreamOptions {
  readonly reply: RunningReply;
  readonly #dependencies: ChatDependencies;
  readonly #context: RequestContext;
  readonly #call: Call;
  readonly #streamLimit: RateLimit | null;

  constructor(
    dependencies: ChatDependencies,
    { context, request, rateLimit, call }: ReplyRequest,
    streams: boolean,
  ) {
    this.#dependencies = dependencies;
    this.#context = context;
    this.#call = call;
    this.#streamLimit = streams ? rateLimit : null;
    this.#streamLimit?.beginStream();
    try {
      this.reply = dependencies.replies.begin((listener) =>
        onDisconnect(request, context.incoming, listener),
      );
    } catch (error) {
      this.#streamLimit?.endStream();
      throw error;
    }
    dependencies.keys.watch(call, this.reply);
  }

  get requestId(): string {
    return this.#context.requestId;
  }

  get heartbeatMs(): number {
    return this.#dependencies.heartbeatMs;
  }

  onDone({ failure }: ChatReply): void {
    if (failure !== undefined) this.#dependencies.onFallback(this.#context, failure);
  }

  onEnd(error: unknown): void {
    this.end();
    this.#dependencies.onStreamEnd(this.#context, error);
  }

  end(): void {
    this.#dependencies.keys.end(this.#call, this.reply);
    this.#dependencies.replies.end(this.reply);
    this.#streamLimit?.endStream();
  }
}

async function wholeResponse(
  context: RequestContext,
  events: AsyncIterator<ChatEvent>,
  onDone: (reply: ChatReply) => void,
): Promise<Response> {
  let start: ChatStart | null = null;
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done) throw new Error('A chat ended without done.');
      if (value.event === 'session') start = value.data;
      if (value.event !== 'done') continue;
      await events.return?.();
      onDone(value.data);
      return jsonResponse(context, value.body);
    }
  } catch (error) {
    throw start === null ? error : withSession(error, start);
  }
}

/** True if the header `Accept` prefers `text/event-stream` to `application/json` (RFC 9110, section 12.5.1). JSON is the default. */
function prefersStream(accept: string | null): boolean {
  if (accept === null) return false;
  let preference = { type: 'application/json', weight: 0 };
  // Of two types with the same weight, the first one is chosen.
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (name !== eventStreamType && name !== 'application/json') continue;
    const weight = weightOf(parameters);
    if (weight > preference.weight) preference = { type: name, weight };
  }
  return preference.type === eventStreamType;
}

function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
}
