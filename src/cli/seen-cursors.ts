// Remembers the cursors of a listing, to detect a server that repeats them. The first thousand are kept. Of the later ones only a single
// cursor is kept and replaced at doubling distances (Brent's cycle detection), because a server may send new ones forever.

const maxKept = 1000;

export class SeenCursors {
  readonly #first = new Set<string>();
  #later: string | null = null;
  #count = 0;
  #replacedAt = maxKept;

  /** Returns false for a repeated cursor. */
  add(cursor: string): boolean {
    if (this.#first.has(cursor) || cursor === this.#later) return false;
    this.#count += 1;
    if (this.#count <= maxKept) {
      this.#first.add(cursor);
    } else if (this.#count >= this.#replacedAt) {
      this.#later = cursor;
      this.#replacedAt = 2 * this.#count;
    }
    return true;
  }
}
