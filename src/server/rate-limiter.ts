// Admits a request if its key is valid and within its rate limit. These two faults are reported before any other. The service decides what
// a key may see.
import type { Call } from '../service/call.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import type { ServerLimits } from './server-limits.ts';

/** The most keys that are remembered, to limit the memory. A forgotten key starts with a full allowance. */
const maxRememberedKeys = 10_000;

/** The limits of one key. They may change. */
interface RateLimits {
  readonly requestsPerSecond: () => number;
  readonly streams: () => number;
}

/** The rate and the streams of one key. */
export class RateLimit {
  readonly #limits: RateLimits;
  /** The requests that may arrive now. As many as the limit are added each second, up to the limit. */
  #tokens: number;
  #filledAt: number;
  #streams = 0;

  constructor(limits: RateLimits, now: number) {
    this.#limits = limits;
    this.#tokens = this.#capacity;
    this.#filledAt = now;
  }

  get isStreaming(): boolean {
    return this.#streams > 0;
  }

  get #capacity(): number {
    return Math.max(1, this.#limits.requestsPerSecond());
  }

  /** Counts a request. Returns false if it is over the limit. */
  take(now: number): boolean {
    // A clock that is set back neither adds nor removes tokens.
    const seconds = Math.max(0, now - this.#filledAt) / 1000;
    this.#tokens = Math.min(this.#capacity, this.#tokens + seconds * this.#limits.requestsPerSecond());
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Whole seconds until a request is within the limit, at least 1. */
  secondsToWait(): number {
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.#limits.requestsPerSecond()));
  }

  /** Counts a new stream. Its end is counted by {@link endStream}. */
  beginStream(): void {
    const limit = this.#limits.streams();
    if (this.#streams >= limit) {
      const message = `This key has ${this.#streams} streaming replies; the limit is ${limit}.`;
      throw new ParleyError('RATE_LIMITED', message, { hint: 'Wait for one of them to end.', retryAfter: 1 });
    }
    this.#streams += 1;
  }

  endStream(): void {
    this.#streams -= 1;
  }
}

export class RateLimiter {
  readonly #service: ConversationService;
  readonly #limits: ServerLimits;
  /** This server's share of the limits of each key. The live servers of one store share them equally. */
  readonly #share: RateLimits;
  readonly #now: () => number;
  readonly #rateLimits = new Map<string, RateLimit>();

  /** `servers`: the number of live servers, which share the limits. */
  constructor(
    service: ConversationService,
    limits: ServerLimits,
    { now, servers }: { now: () => number; servers: () => number },
  ) {
    this.#service = service;
    this.#limits = limits;
    this.#share = {
      requestsPerSecond: () => limits.requestsPerSecond / servers(),
      streams: () => Math.max(1, Math.floor(limits.streamsPerKey / servers())),
    };
    this.#now = now;
  }

  /**
   * Throws `INVALID_API_KEY` or `RATE_LIMITED`. `isSmall`: the body may be read before the key is checked. For a known key `projectId` is
   * then null, and only the operation itself checks the key.
   */
  async admit(call: Call, isSmall: boolean): Promise<{ rateLimit: RateLimit; projectId: string | null }> {
    const knownLimit = this.#rateLimits.get(call.apiKey);
    if (isSmall && knownLimit?.take(this.#now())) return { rateLimit: knownLimit, projectId: null };
    const { data } = await this.#service.verify(call);
    const rateLimit = this.#rateLimits.get(call.apiKey) ?? this.#remember(call.apiKey);
    if (rateLimit.take(this.#now())) return { rateLimit, projectId: data.project_id };
    const message = `This key sends more than ${this.#limits.requestsPerSecond} requests per second.`;
    throw new ParleyError('RATE_LIMITED', message, {
      hint: 'Wait as long as Retry-After says.',
      retryAfter: rateLimit.secondsToWait(),
    });
  }

  #remember(apiKey: string): RateLimit {
    if (this.#rateLimits.size >= maxRememberedKeys) {
      for (const [key, rateLimit] of this.#rateLimits) {
        if (rateLimit.isStreaming) continue;
        this.#rateLimits.delete(key);
        break;
      }
    }
    const rateLimit = new RateLimit(this.#share, this.#now());
    this.#rateLimits.set(apiKey, rateLimit);
    return rateLimit;
  }
}
