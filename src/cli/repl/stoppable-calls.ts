// Ends the wait for calls that ignore their signal, because a database does not answer. The work continues, and its result is not shown.
import type { ChatEvent } from '../../service/chat-event.ts';
import { ParleyError } from '../../service/errors.ts';

/** How long (ms) a stopped call may take to end by itself. */
const graceMs = 1000;

/** Settles like the work. Rejects with `failure` if the work has not ended a moment after the signal. */
export function soonAfterAbort<T>(
  work: Promise<T>,
  signal: AbortSignal,
  failure: () => unknown = () => signal.reason,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      timer = setTimeout(() => reject(failure()), graceMs);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
  });
}

/** The events of a turn. A turn whose wait was ended goes on to its own end when the database answers again. */
export async function* eventsUntilAbort(
  events: AsyncIterable<ChatEvent>,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const iterator = events[Symbol.asyncIterator]();
  let session: string | null = null;
  let isGivenUp = false;
  const giveUp = () => {
    isGivenUp = true;
    return session === null ? signal.reason : unendedTurn(session);
  };
  try {
    for (;;) {
      const { done, value } = await soonAfterAbort(iterator.next(), signal, giveUp);
      if (done) return;
      if (value.event === 'session') session = value.data.session_id;
      yield value;
    }
  } finally {
    // The iterator ends the turn after the call that still runs.
    const end = iterator.return?.().catch(() => {});
    if (!isGivenUp) await end;
  }
}

function unendedTurn(session_id: string): ParleyError {
  return new ParleyError('UNAVAILABLE', 'Stopped, but the store does not answer.', {
    hint: `The message is kept in session ${session_id}; the received part of the reply is kept if the store answers in time.`,
    session_id,
  });
}
