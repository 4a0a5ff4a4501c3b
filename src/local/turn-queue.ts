// Who wants the turn of one session, in this process: one after the other, in the order in which they came. The others of a queue
// ask the store nothing.

export class TurnQueue {
  /** By session: resolves when the last of its queue has left. */
  readonly #queues = new Map<string, Promise<void>>();

  /** Resolves at the head of the queue, with the function that leaves it. Rejects with the signal's reason, and has left then; the signal is asked for only when there is somebody before. */
  async enter(session: string, patience: { readonly signal: AbortSignal }): Promise<() => void> {
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const before = this.#queues.get(session);
    // Whoever leaves early leaves the order of the others as it was.
    const last = before === undefined ? left : before.then(() => left);
    this.#queues.set(session, last);
    const end = () => {
      leave();
      if (this.#queues.get(session) === last) this.#queues.delete(session);
    };
    if (before === undefined) return end;
    try {
      await beforeAbort(before, patience.signal);
      return end;
    } catch (error) {
      end();
      throw error;
    }
  }
}

function beforeAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve).finally(() => signal.removeEventListener('abort', stop));
  });
}
