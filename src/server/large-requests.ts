// Limits the memory of requests with a large body: the bytes of such bodies that are held at a time, for one key and for all keys together.
// Only one large request is processed at a time. The body of a request that must wait is not read further until there is room.

/** A body with more bytes is large. */
export const largeBytes = 64 * 1024;

/** The most bytes that are held. One further body may be held for each limit: see `#hasRoom`. */
interface LargeRequestLimits {
  readonly largeBodyBytesPerKey: number;
  readonly largeBodyBytes: number;
}

/** The memory of one large request. */
export interface BodyReservation {
  /** Reserves room for bytes that have arrived. Null if there is room; otherwise it resolves when there is room, or never after `release`. */
  reserve(bytes: number): Promise<void> | null;
  /** Resolves when no other large request is being processed. */
  beginProcessing(): Promise<void>;
  /** Releases the memory, and lets the next request be processed. A second call does nothing. */
  release(): void;
}

/** A large request. */
interface LargeRequest {
  readonly key: KeyRequests;
  heldBytes: number;
}

/** The large requests of one key, in the order of their arrival. */
interface KeyRequests {
  readonly requests: Set<LargeRequest>;
  heldBytes: number;
}

/** A request that waits for room. */
interface Waiter {
  readonly request: LargeRequest;
  readonly bytes: number;
  readonly resume: () => void;
}

export class LargeRequests {
  readonly #limits: LargeRequestLimits;
  readonly #keys = new Map<string, KeyRequests>();
  /** In the order of their arrival. */
  readonly #requests = new Set<LargeRequest>();
  readonly #processingQueue: (() => void)[] = [];
  #heldBytes = 0;
  #isProcessing = false;
  #waiters: Waiter[] = [];

  constructor(limits: LargeRequestLimits) {
    this.#limits = limits;
  }

  /** Adds a request, which holds no bytes yet. */
  add(apiKey: string): BodyReservation {
    const key = this.#keys.get(apiKey) ?? { requests: new Set(), heldBytes: 0 };
    this.#keys.set(apiKey, key);
    const request: LargeRequest = { key, heldBytes: 0 };
    key.requests.add(request);
    this.#requests.add(request);
    let isProcessed = false;
    let isReleased = false;
    return {
      reserve: (bytes) => {
        if (!this.#hasRoom(request, bytes))
          return new Promise((resume) => this.#waiters.push({ request, bytes, resume }));
        this.#hold(request, bytes);
        return null;
      },
      beginProcessing: async () => {
        if (this.#isProcessing) await new Promise<void>((resolve) => this.#processingQueue.push(resolve));
        this.#isProcessing = true;
        isProcessed = true;
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        if (isProcessed) this.#endProcessing();
        key.requests.delete(request);
        if (key.requests.size === 0) this.#keys.delete(apiKey);
        this.#release(request);
      },
    };
  }

  /** The next request begins directly, so that no later request comes in between. */
  #endProcessing(): void {
    const next = this.#processingQueue.shift();
    if (next === undefined) this.#isProcessing = false;
    else next();
  }

  /**
   * Requests that each hold a part of their body could wait for each other forever. Therefore the first request of all never waits, and the
   * first request of a key does not wait for the other requests of that key.
   */
  #hasRoom(request: LargeRequest, bytes: number): boolean {
    const { largeBodyBytes, largeBodyBytesPerKey } = this.#limits;
    const { key } = request;
    if (request === first(this.#requests)) return true;
    if (this.#heldBytes + bytes > largeBodyBytes) return false;
    return key.heldBytes + bytes <= largeBodyBytesPerKey || request === first(key.requests);
  }

  #hold(request: LargeRequest, bytes: number): void {
    request.heldBytes += bytes;
    request.key.heldBytes += bytes;
    this.#heldBytes += bytes;
  }

  #release(request: LargeRequest): void {
    this.#requests.delete(request);
    this.#hold(request, -request.heldBytes);
    this.#waiters = this.#waiters.filter((waiter) => {
      if (waiter.request === request) return false;
      if (!this.#hasRoom(waiter.request, waiter.bytes)) return true;
      this.#hold(waiter.request, waiter.bytes);
      waiter.resume();
      return false;
    });
  }
}

function first<T>(values: ReadonlySet<T>): T | undefined {
  return values.values().next().value;
}
