// The cursors of a listing that were asked for, so that a circle of them is noticed. A server may give new ones for ever: the first
// thousand are kept, and of all others one at a time, the next twice as far on as the one before (Brent's search for a circle).

const mostKept = 1000;

export class SeenCursors {
  readonly #first = new Set<string>();
  #later: string | null = null;
  #count = 0;
  #replacedAt = mostKept;

  /** False for a cursor that is known to have been asked for. */
  add(cursor: string): boolean {
    if (this.#first.has(cursor) || cursor === this.#later) return false;
    this.#count += 1;
    if (this.#count <= mostKept) {
      this.#first.add(cursor);
    } else if (this.#count >= this.#replacedAt) {
      this.#later = cursor;
      this.#replacedAt = 2 * this.#count;
    }
    return true;
  }
}
