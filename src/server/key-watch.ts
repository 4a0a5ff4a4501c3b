// Checks the keys of running replies at intervals. A reply whose key was revoked is stopped.
import type { Call } from '../service/call.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { hasCode, type ParleyError } from '../service/errors.ts';

interface WatchedKey {
  readonly call: Call;
  readonly stops: Set<(reason: ParleyError) => void>;
}

export class KeyWatch {
  readonly #service: ConversationService;
  readonly #intervalMs: number;
  readonly #keys = new Map<string, WatchedKey>();
  #timer: NodeJS.Timeout | null = null;

  constructor(service: ConversationService, intervalMs: number) {
    this.#service = service;
    this.#intervalMs = intervalMs;
  }

  /** Calls `stop` once if the key becomes invalid. The returned function ends the watch. */
  watch(call: Call, stop: (reason: ParleyError) => void): () => void {
    const { apiKey } = call;
    const key = this.#keys.get(apiKey) ?? { call, stops: new Set() };
    key.stops.add(stop);
    this.#keys.set(apiKey, key);
    if (this.#timer === null) this.#schedule();
    return () => {
      key.stops.delete(stop);
      if (key.stops.size === 0 && this.#keys.get(apiKey) === key) this.#keys.delete(apiKey);
    };
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await Promise.all([...this.#keys.values()].map((key) => this.#check(key)));
      this.#timer = null;
      if (this.#keys.size > 0) this.#schedule();
    }, this.#intervalMs);
    this.#timer.unref();
  }

  async #check({ call, stops }: WatchedKey): Promise<void> {
    try {
      await this.#service.verify(call);
    } catch (error) {
      // Any other failure says nothing about the key.
      if (!hasCode(error, 'INVALID_API_KEY')) return;
      for (const stop of stops) stop(error);
    }
  }
}
