// Lets a request in: its key holds, and has not been used too often. Whatever else may be wrong with a request, nobody hears of
// it before this has passed. What a key may see is decided by the service.
import type { Call } from '../service/call.ts';
import type { ConversationService } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import type { ServerLimits } from './server-limits.ts';
import { TokenBucket } from './token-bucket.ts';

/** Bounds the memory that keys of long ago take; who is forgotten starts afresh. */
const rememberedKeys = 10_000;

/** What one key is doing right now. */
export class RateLimit {
  readonly bucket: TokenBucket;
  readonly #streamLimit: number;
  #streams = 0;

  constructor(limits: ServerLimits, now: number) {
    this.bucket = new TokenBucket(limits.requestsPerSecond, now);
    this.#streamLimit = limits.streamsPerKey;
  }

  get isStreaming(): boolean {
    return this.#streams > 0;
  }

  /** Counts a stream in, and gives the function that counts it out. */
  beginStream(): () => void {
    if (this.#streams >= this.#streamLimit) {
      throw new ParleyError(
        'RATE_LIMITED',
        `This key has ${this.#streams} replies streaming; the limit is ${this.#streamLimit}.`,
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
  readonly #now: () => number;
  readonly #uses = new Map<string, RateLimit>();

  constructor(service: ConversationService, limits: ServerLimits, now: () => number) {
    this.#service = service;
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * `isPlain`: the request holds nothing that could be refused before the service, which checks the key first, sees it. Then
   * a key seen before is looked up by the service alone, and `projectId` is null.
   */
  async admit(call: Call, isPlain: boolean): Promise<{ use: RateLimit; projectId: string | null }> {
    const known = this.#uses.get(call.apiKey);
    if (isPlain && known?.bucket.take(this.#now())) return { use: known, projectId: null };
    const { data } = await this.#service.verify(call);
    const use = this.#uses.get(call.apiKey) ?? this.#remember(call.apiKey);
    if (use.bucket.take(this.#now())) return { use, projectId: data.project_id };
    throw new ParleyError(
      'RATE_LIMITED',
      `This key makes more than ${this.#limits.requestsPerSecond} requests a second.`,
      { hint: 'Wait as long as Retry-After says.', retryAfter: use.bucket.secondsToWait() },
    );
  }

  #remember(apiKey: string): RateLimit {
    if (this.#uses.size >= rememberedKeys) {
      for (const [key, use] of this.#uses) {
        if (use.isStreaming) continue;
        this.#uses.delete(key);
        break;
      }
    }
    const use = new RateLimit(this.#limits, this.#now());
    this.#uses.set(apiKey, use);
    return use;
  }
}

/** The key of an Authorization header; empty, and so refused as every other that is no key, where there is none. */
export function bearerKey(headers: Headers): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
}
