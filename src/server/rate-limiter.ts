// Admits a request if its key is valid and within its rate limit. These two faults are reported before any other. The service decides what
// a key may see.
import type { Call } from '../service/call.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import type { ServerLimits } from './server-limits.ts';
import { TokenBucket } from './token-bucket.ts';

/** The most keys that are remembered, to limit the memory. A forgotten key starts with a full allowance. */
const rememberedKeys = 10_000;

/** This server's share of the limits of a key. The live servers of one store share them equally. */
class LimitShare {
  readonly #limits: ServerLimits;
  readonly #servers: () => number;

  constructor(limits: ServerLimits, servers: () => number) {
    this.#limits = limits;
    this.#servers = servers;
  }

  get requestsPerSecond(): number {
    return this.#limits.requestsPerSecond / this.#servers();
  }

  get streamsPerKey(): number {
    return Math.max(1, Math.floor(this.#limits.streamsPerKey / this.#servers()));
  }
}

/** The rate and the streams of one key. */
export class RateLimit {
  readonly bucket: TokenBucket;
  readonly #streamLimit: () => number;
  #streams = 0;

  constructor(share: LimitShare, now: number) {
    this.bucket = new TokenBucket(() => share.requestsPerSecond, now);
    this.#streamLimit = () => share.streamsPerKey;
  }

  get isStreaming(): boolean {
    return this.#streams > 0;
  }

  /** Counts a new stream. The returned function counts its end. */
  beginStream(): () => void {
    const limit = this.#streamLimit();
    if (this.#streams >= limit) {
      throw new ParleyError(
        'RATE_LIMITED',
        `This key has ${this.#streams} streaming replies; the limit is ${limit}.`,
        { hint: 'Wait for one of them to end.', retryAfter: 1 },
      );
    }
    this.#streams += 1;
    return () => {
      this.#streams -= 1;
    };
  }
}

export class RateLimiter {
  readonly #service: ConversationService;
  readonly #limits: ServerLimits;
  readonly #share: LimitShare;
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
    this.#share = new LimitShare(limits, servers);
    this.#now = now;
  }

  /**
   * Throws `INVALID_API_KEY` or `RATE_LIMITED`. `isSmall`: the body may be read before the key is checked. For a known key `projectId` is
   * then null, and only the operation itself checks the key.
   */
  async admit(call: Call, isSmall: boolean): Promise<{ rateLimit: RateLimit; projectId: string | null }> {
    const known = this.#rateLimits.get(call.apiKey);
    if (isSmall && known?.bucket.take(this.#now())) return { rateLimit: known, projectId: null };
    const { data } = await this.#service.verify(call);
    const rateLimit = this.#rateLimits.get(call.apiKey) ?? this.#remember(call.apiKey);
    if (rateLimit.bucket.take(this.#now())) return { rateLimit, projectId: data.project_id };
    throw new ParleyError(
      'RATE_LIMITED',
      `This key sends more than ${this.#limits.requestsPerSecond} requests per second.`,
      { hint: 'Wait as long as Retry-After says.', retryAfter: rateLimit.bucket.secondsToWait() },
    );
  }

  #remember(apiKey: string): RateLimit {
    if (this.#rateLimits.size >= rememberedKeys) {
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

/** The key in the Authorization header; empty if there is none. An empty key is refused like any invalid key. */
export function bearerKey(headers: Headers): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
}
