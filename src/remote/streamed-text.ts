// Collects the text of a streamed reply. V8 represents concatenated strings as a tree, which takes 32 bytes for each chunk of one character;
// joined arrays take less.

const maxChunks = 4096;

export class StreamedText {
  readonly #joined: string[] = [];
  #chunks: string[] = [];

  add(chunk: string): void {
    this.#chunks.push(chunk);
    if (this.#chunks.length < maxChunks) return;
    this.#joined.push(this.#chunks.join(''));
    this.#chunks = [];
  }

  toString(): string {
    return [...this.#joined, ...this.#chunks].join('');
  }
}
