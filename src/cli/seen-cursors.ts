// Remembers the cursors of a listing, to notice a server that repeats them. A server may send new ones for ever, so only the first thousand
// are kept. Of the later ones a single cursor is kept, and replaced at doubling distances (Brent's cycle detection).

const mostKept = 1000;

export class SeenCursors {
  readonly #first = new Set<string>();
  #later: string | null = null;
  #count = 0;
  #replacedAt = mostKept;

  /** False for a cursor that was used before. */
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
