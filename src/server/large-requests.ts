// Limits the memory of requests with a large body: how many bytes of such bodies are held at a time, for one key and for all keys together.
// One of them is worked on at a time. A request that must wait is read no further until there is room.

/** A body with more bytes is large. */
export const largeBytes = 64 * 1024;

/** The limits of the bytes that are held. One body more may be held for each limit: see `#hasRoom`. */
export interface LargeRequestLimits {
  readonly largeBodyBytesPerKey: number;
  readonly largeBodyBytes: number;
}

/** The place of one large request among the others. */
export interface LargeRequest {
  /** Null if there is room for these bytes, which have arrived. Otherwise it resolves when there is room, or never after `leave`. */
  hold(bytes: number): Promise<void> | null;
  /** Resolves when no other large request is worked on. */
  turn(): Promise<void>;
  /** Gives the place up: its body is held no longer. A second call does nothing. */
  leave(): void;
}

interface Place {
  readonly key: KeyRoom;
  held: number;
}

/** What one key holds. Its places are in the order in which they were taken. */
interface KeyRoom {
  readonly places: Set<Place>;
  held: number;
}

interface Waiting {
  readonly place: Place;
  readonly bytes: number;
  readonly enter: () => void;
}

export class LargeRequests {
  readonly #limits: LargeRequestLimits;
  readonly #keys = new Map<string, KeyRoom>();
  /** In the order in which the places were taken. */
  readonly #places = new Set<Place>();
  readonly #turns: (() => void)[] = [];
  #held = 0;
  #isBusy = false;
  #waiting: Waiting[] = [];

  constructor(limits: LargeRequestLimits) {
    this.#limits = limits;
  }

  /** Takes a place, which holds no bytes yet. */
  enter(apiKey: string): LargeRequest {
    const key = this.#keys.get(apiKey) ?? { places: new Set(), held: 0 };
    this.#keys.set(apiKey, key);
    const place: Place = { key, held: 0 };
    key.places.add(place);
    this.#places.add(place);
    let hasTurn = false;
    let hasLeft = false;
    return {
      hold: (bytes) => {
        if (!this.#hasRoom(place, bytes)) return this.#room(place, bytes);
        this.#hold(place, bytes);
        return null;
      },
      turn: async () => {
        if (this.#isBusy) await new Promise<void>((resolve) => this.#turns.push(resolve));
        this.#isBusy = true;
        hasTurn = true;
      },
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        if (hasTurn) this.#endTurn();
        key.places.delete(place);
        if (key.places.size === 0) this.#keys.delete(apiKey);
        this.#release(place);
      },
    };
  }

  #room(place: Place, bytes: number): Promise<void> {
    return new Promise((enter) => this.#waiting.push({ place, bytes, enter }));
  }

  /** The turn passes directly to the next one, so that no later request comes in between. */
  #endTurn(): void {
    const next = this.#turns.shift();
    if (next === undefined) this.#isBusy = false;
    else next();
  }

  /**
   * Requests that each hold a part of their body could wait for each other for ever. Therefore the first place of all never waits, and the
   * first place of a key does not wait for the other places of that key.
   */
  #hasRoom(place: Place, bytes: number): boolean {
    const { largeBodyBytes, largeBodyBytesPerKey } = this.#limits;
    const { key } = place;
    if (place === first(this.#places)) return true;
    if (this.#held + bytes > largeBodyBytes) return false;
    return key.held + bytes <= largeBodyBytesPerKey || place === first(key.places);
  }

  #hold(place: Place, bytes: number): void {
    place.held += bytes;
    place.key.held += bytes;
    this.#held += bytes;
  }

  #release(place: Place): void {
    this.#places.delete(place);
    this.#hold(place, -place.held);
    this.#waiting = this.#waiting.filter((one) => {
      if (one.place === place) return false;
      if (!this.#hasRoom(one.place, one.bytes)) return true;
      this.#hold(one.place, one.bytes);
      one.enter();
      return false;
    });
  }
}

function first<T>(places: ReadonlySet<T>): T | undefined {
  return places.values().next().value;
}
