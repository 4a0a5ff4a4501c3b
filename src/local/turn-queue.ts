// A queue per session within this process: turns run one after the other, in the order of their arrival. Only the head of a queue asks the
// store.
import { beforeAbort } from '../system/before-abort.ts';

export class TurnQueue {
  /** By session: a promise that resolves when the last of its queue has left. */
  readonly #queues = new Map<string, Promise<void>>();

  /**
   * Resolves at the head of the queue with the function that leaves it. Rejects with the signal's reason; the caller has then left. The
   * signal is read only if another caller is ahead.
   */
  async enter(session: string, limit: { readonly signal: AbortSignal }): Promise<() => void> {
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const before = this.#queues.get(session);
    // A caller that leaves early does not change the order of the others.
    const last = before === undefined ? left : before.then(() => left);
    this.#queues.set(session, last);
    const end = () => {
      leave();
      if (this.#queues.get(session) === last) this.#queues.delete(session);
    };
    if (before === undefined) return end;
    try {
      await beforeAbort(before, limit.signal);
      return end;
    } catch (error) {
      end();
      throw error;
    }
  }
}
