// The running replies. A server that stops lets them continue for a while and then cuts them. The received part of each reply is stored,
// and its client gets an error.
import { ParleyError } from '../service/errors.ts';
import { ClientGone } from './client-gone.ts';

/** One running reply. */
export interface RunningReply {
  /** Fires when the client goes away, when `stop` is called, or when the server stops. */
  readonly signal: AbortSignal;
  clientLeft(): void;
  /** Cuts the reply for a reason other than a lost client. The client gets the reason. */
  stop(reason: ParleyError): void;
  /** Called when the reply is stored. */
  end(): void;
}

export class RunningReplies {
  readonly #running = new Set<AbortController>();
  #stopping = false;
  #whenNone: (() => void) | null = null;

  get isStopping(): boolean {
    return this.#stopping;
  }

  begin(request: AbortSignal): RunningReply {
    if (this.#stopping) throw stopping();
    const controller = new AbortController();
    const clientLeft = () => controller.abort(new ClientGone());
    if (request.aborted) clientLeft();
    request.addEventListener('abort', clientLeft, { once: true });
    this.#running.add(controller);
    return {
      signal: controller.signal,
      clientLeft,
      stop: (reason) => controller.abort(reason),
      end: () => {
        request.removeEventListener('abort', clientLeft);
        this.#running.delete(controller);
        if (this.#running.size === 0) this.#whenNone?.();
      },
    };
  }

  /** Refuses new replies from now on. Resolves when the running ones have ended. After `graceMs` they are cut. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#running.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve;
    });
    const alarm = setTimeout(() => {
      for (const controller of this.#running) controller.abort(stopping());
    }, graceMs);
    await none;
    clearTimeout(alarm);
  }
}

export function stopping(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'The server is shutting down.', {
    hint: 'Try again in a moment.',
    retryAfter: 5,
  });
}
