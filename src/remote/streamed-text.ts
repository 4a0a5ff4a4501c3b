// The text of a reply as its pieces come. JavaScript keeps a sum of strings as a tree: for each piece of one character, 32 bytes.

const mostPieces = 4096;

export class StreamedText {
  readonly #joined: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < mostPieces) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  toString(): string {
    return [...this.#joined, ...this.#pieces].join('');
  }
}
