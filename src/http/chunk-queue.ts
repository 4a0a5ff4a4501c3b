// Holds bytes until they are read. Small chunks are copied into one block, because a chunk of one byte may be a view of a buffer of 64 KiB,
// which would stay in memory as long as the chunk.

/** A chunk of at least this length is not copied, because it fills a quarter of its buffer or more. */
const blockBytes = 16 * 1024;

export class ChunkQueue {
  #chunks: Uint8Array[] = [];
  #block: Uint8Array | null = null;
  #used = 0;
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  push(chunk: Uint8Array): void {
    const isOnly = this.#byteLength === 0;
    this.#byteLength += chunk.byteLength;
    if (isOnly || chunk.byteLength >= blockBytes) {
      this.#closeBlock();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#used + chunk.byteLength > blockBytes) this.#closeBlock();
    this.#block ??= new Uint8Array(blockBytes);
    this.#block.set(chunk, this.#used);
    this.#used += chunk.byteLength;
  }

  /** Takes the first chunk; undefined if there is none. */
  shift(): Uint8Array | undefined {
    if (this.#chunks.length === 0) this.#closeBlock();
    const chunk = this.#chunks.shift();
    this.#byteLength -= chunk?.byteLength ?? 0;
    return chunk;
  }

  /** Takes all bytes as one chunk. */
  takeAll(): Uint8Array {
    this.#closeBlock();
    const chunks = this.#chunks;
    this.clear();
    const [first] = chunks;
    return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  }

  clear(): void {
    this.#chunks = [];
    this.#block = null;
    this.#used = 0;
    this.#byteLength = 0;
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#chunks.push(this.#block.subarray(0, this.#used));
    this.#block = null;
    this.#used = 0;
  }
}
