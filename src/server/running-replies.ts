// The replies that are running. A stopping server first accepts new replies for a while, although it reports that it is not ready. Then it
// refuses new replies, gives the running ones time to end, and cuts the rest. Each received part is stored, and the client gets an error.
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../service/errors.ts';
import { ClientDisconnected } from './client-disconnected.ts';

/** Calls the listener when the client disconnects. The returned function ends the wait. */
type OnDisconnect = (listener: () => void) => () => void;

/** One running reply. */
export class RunningReply {
  readonly #controller = new AbortController();
  /** Ends the wait for the client to disconnect. */
  readonly endWait: () => void;

  constructor(onDisconnect: OnDisconnect) {
    this.endWait = onDisconnect(() => this.clientDisconnected());
  }

  /** Aborts when the client disconnects, when `stop` is called, or when the server stops. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  clientDisconnected(): void {
    this.#controller.abort(new ClientDisconnected());
  }

  /** Cuts the reply of a client that is still connected. The client gets the reason. */
  stop(reason: ParleyError): void {
    this.#controller.abort(reason);
  }
}

export class RunningReplies {
  readonly #running = new Set<RunningReply>();
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

  begin(onDisconnect: OnDisconnect): RunningReply {
    if (this.#stopping) throw stopping();
    const reply = new RunningReply(onDisconnect);
    this.#running.add(reply);
    return reply;
  }

  /** Called when the reply is stored. */
  end(reply: RunningReply): void {
    reply.endWait();
    this.#running.delete(reply);
    if (this.#running.size === 0) this.#onEmpty?.();
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
      for (const reply of this.#running) reply.stop(stopping());
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
