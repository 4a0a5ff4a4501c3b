// Watches the events of an engine: the caller's signal and the time limits end the wait even if the engine ignores both.
import type { EngineEvent } from '../engine/reply-engine.ts';
import { ParleyError } from '../service/errors.ts';
import type { Limits } from '../service/limits.ts';
import { beforeAbort } from '../system/before-abort.ts';

/** The engine's events. Throws the signal's reason when the signal fires, and `ENGINE_TIMEOUT` when the engine is silent for too long. */
export async function* withTimeLimits(
  ask: (signal: AbortSignal) => AsyncIterable<EngineEvent>,
  signal: AbortSignal,
  limits: Pick<Limits, 'firstTokenMs' | 'silenceMs'>,
): AsyncGenerator<EngineEvent> {
  signal.throwIfAborted();
  const watch = new AbortController();
  const follow = () => watch.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  const alarm = (ms: number) =>
    setTimeout(() => {
      const silence = `The engine was silent for ${ms / 1000} s.`;
      watch.abort(new ParleyError('ENGINE_TIMEOUT', silence, { hint: 'Try again.' }));
    }, ms);
  let timer = alarm(limits.firstTokenMs);
  let finished = false;
  const iterator = ask(watch.signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      watch.signal.throwIfAborted();
      const step = await beforeAbort(iterator.next(), watch.signal);
      clearTimeout(timer);
      if (step.done) {
        finished = true;
        return;
      }
      // The time that the consumer takes does not count as the engine's silence, so the timer starts again when the consumer asks for more.
      yield step.value;
      timer = alarm(limits.silenceMs);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
    if (!finished) {
      watch.abort(signal.aborted ? signal.reason : new Error('no longer read'));
      // The promise is not awaited: an engine that hangs must not block its caller.
      iterator.return?.().catch(() => {});
    }
  }
}
