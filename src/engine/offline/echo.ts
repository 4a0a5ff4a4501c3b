// The engine of the mode `echo`, for pipes and tests: its reply is the message.
import type { EngineContext, EngineEvent, ReplyEngine } from '../reply-engine.ts';
import { replyStream } from './reply-stream.ts';

const chunkLength = 1024;

export class EchoEngine implements ReplyEngine {
  readonly name = 'echo';
  readonly historyMessages = 0;

  reply(context: EngineContext, options: { readonly signal: AbortSignal }): AsyncIterable<EngineEvent> {
    return replyStream(chunks(context.message), options.signal);
  }
}

function* chunks(message: string): Generator<string> {
  for (let start = 0; start < message.length; ) {
    let end = Math.min(start + chunkLength, message.length);
    if (splitsPair(message, end)) end += 1;
    yield message.slice(start, end);
    start = end;
  }
}

/** True if a surrogate pair is cut at this position. Its halves could not be written as UTF-8. */
function splitsPair(message: string, at: number): boolean {
  return at < message.length && (message.codePointAt(at - 1) ?? 0) > 0xffff;
}
