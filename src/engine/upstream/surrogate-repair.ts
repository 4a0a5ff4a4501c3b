// Repairs text so that a store can keep it: it replaces lone halves of surrogate pairs and NUL. A server that cuts its chunks by UTF-16 units
// sends a pair as two halves, which are joined.

const replacement = '\ufffd';

export class SurrogateRepair {
  #half = '';

  take(chunk: string): string {
    if (chunk === '') return '';
    const text = this.#half + chunk;
    const isCut = /[\ud800-\udbff]$/.test(text);
    this.#half = isCut ? text.slice(-1) : '';
    return clean(isCut ? text.slice(0, -1) : text);
  }

  /** Returns the character that was held back. Must be the last call. */
  rest(): string {
    const half = this.#half;
    this.#half = '';
    return clean(half);
  }
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', replacement);
}
