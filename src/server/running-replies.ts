// The replies that are running. A stopping server first accepts new replies for a while, although it reports that it is not ready. Then it
// refuses new replies, gives the running ones time to end, and cuts the rest. Each received part is stored, and the client gets an error.
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../service/errors.ts';
import { ClientDisconnected } from './client-disconnected.ts';

/** One running reply. */
export interface RunningReply {
  /** Aborts when the client disconnects, when `stop` is called, or when the server stops. */
  readonly signal: AbortSignal;
  clientDisconnected(): void;
  /** Cuts the reply of a client that is still connected. The client gets the reason. */
  stop(reason: ParleyError): void;
  /** Called when the reply is stored. */
  end(): void;
}

export class RunningReplies {
  readonly #running = new Set<AbortController>();
  #draining = false;
  #stopping = false;
  #onEmpty: (() => void) | null = null;

  /** True from the beginning of a stop. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** True once new replies are refused. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  begin(request: AbortSignal): RunningReply {
    if (this.#stopping) throw stopping();
    const controller = new AbortController();
    const clientDisconnected = () => controller.abort(new ClientDisconnected());
    if (request.aborted) clientDisconnected();
    request.addEventListener('abort', clientDisconnected, { once: true });
    this.#running.add(controller);
    return {
      signal: controller.signal,
      clientDisconnected,
      stop: (reason) => controller.abort(reason),
      end: () => {
        request.removeEventListener('abort', clientDisconnected);
        this.#running.delete(controller);
        if (this.#running.size === 0) this.#onEmpty?.();
      },
    };
  }

  /** Refuses new replies after `drainMs`. Resolves when the running ones have ended. After another `graceMs` they are cut. */
  async stop({ drainMs, graceMs }: { drainMs: number; graceMs: number }): Promise<void> {
    this.#draining = true;
    if (drainMs > 0) await delay(drainMs);
    this.#stopping = true;
    if (this.#running.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const timeout = setTimeout(() => {
      for (const controller of this.#running) controller.abort(stopping());
    }, graceMs);
    await empty;
    clearTimeout(timeout);
  }
}

export function stopping(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'The server is shutting down.', {
    hint: 'Try again in a moment.',
    retryAfter: 5,
  });
}
