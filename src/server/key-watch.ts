// Checks the keys of running replies at intervals. A reply whose key was revoked is stopped.
import type { Call } from '../service/call.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { hasCode, type ParleyError } from '../service/errors.ts';

/** A reply that may be stopped, and then tells its client the reason. */
interface Stoppable {
  stop(reason: ParleyError): void;
}

interface WatchedKey {
  readonly call: Call;
  readonly replies: Set<Stoppable>;
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

  /** Stops the reply if the key becomes invalid, until `end` is called. */
  watch(call: Call, reply: Stoppable): void {
    const { apiKey } = call;
    const key = this.#keys.get(apiKey) ?? { call, replies: new Set() };
    key.replies.add(reply);
    this.#keys.set(apiKey, key);
    if (this.#timer === null) this.#schedule();
  }

  end({ apiKey }: Call, reply: Stoppable): void {
    const key = this.#keys.get(apiKey);
    key?.replies.delete(reply);
    if (key?.replies.size === 0) this.#keys.delete(apiKey);
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await Promise.all([...this.#keys.values()].map((key) => this.#check(key)));
      this.#timer = null;
      if (this.#keys.size > 0) this.#schedule();
    }, this.#intervalMs);
    this.#timer.unref();
  }

  async #check({ call, replies }: WatchedKey): Promise<void> {
    try {
      await this.#service.verify(call);
    } catch (error) {
      // Any other failure says nothing about the key.
      if (!hasCode(error, 'INVALID_API_KEY')) return;
      for (const reply of replies) reply.stop(error);
    }
  }
}
