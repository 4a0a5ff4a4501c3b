// Repairs text so that a store can keep it: without halves of surrogate pairs and without NUL. A server that cuts its chunks by UTF-16
// units sends a pair as two halves, which this class joins.

const replacement = '\ufffd';

export class SurrogateRepair {
  #half = '';

  take(chunk: string): string {
    if (chunk === '') return '';
    const text = this.#half + chunk;
    const isCut = /[\ud800-\udbff]$/.test(text);
    this.#half = isCut ? text.slice(-1) : '';
    return cleaned(isCut ? text.slice(0, -1) : text);
  }

  /** What was held back. Nothing follows it. */
  rest(): string {
    const half = this.#half;
    this.#half = '';
    return cleaned(half);
  }
}

function cleaned(text: string): string {
  return text.toWellFormed().replaceAll('\0', replacement);
}
