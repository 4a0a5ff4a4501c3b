// The replies that are being made, so that a server that stops can let them end, and then cut them: each is kept as far as it
// came, and its client told.
import { ParleyError } from '../service/errors.ts';
import { ClientGone } from './client-gone.ts';

/** One reply: `signal` fires when its client goes away or the server stops; `end` says that all of it is kept. */
export interface RunningReply {
  readonly signal: AbortSignal;
  clientLeft(): void;
  /** For any other reason: its client is told. */
  stop(reason: ParleyError): void;
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

  /** No new ones from now on. Resolves when those that run have ended, cut after the grace if need be. */
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
