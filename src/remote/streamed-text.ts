// Collects the text of a streamed reply. JavaScript keeps a sum of strings as a tree, which takes 32 bytes for each chunk of one character;
// joined arrays take less.

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
