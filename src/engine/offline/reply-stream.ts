// A reply that is known whole, streamed as engine events. There is nothing to wait for, so it waits for nothing; the signal
// is heeded before every event.
import type { EngineEvent } from '../reply-engine.ts';

export async function* replyStream(
  pieces: Iterable<string>,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  for (const text of pieces) {
    signal.throwIfAborted();
    yield { type: 'text', text };
  }
  signal.throwIfAborted();
  yield { type: 'finish', reason: 'stop', usage: null };
}
