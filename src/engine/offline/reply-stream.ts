// Streams a complete reply as engine events. It does not wait, and checks the signal before every event.
import type { EngineEvent } from '../reply-engine.ts';

export async function* replyStream(
  chunks: Iterable<string>,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  for (const text of chunks) {
    signal.throwIfAborted();
    yield { type: 'text', text };
  }
  signal.throwIfAborted();
  yield { type: 'finish', reason: 'stop', usage: null };
}
