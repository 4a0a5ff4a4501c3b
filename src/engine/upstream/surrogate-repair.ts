// Text as a store can keep it: no half of a surrogate pair, and no NUL. A server that cuts its pieces by UTF-16 sends a pair as two halves.

const replacement = '\ufffd';

export class SurrogateRepair {
  #half = '';

  take(piece: string): string {
    if (piece === '') return '';
    const text = this.#half + piece;
    const isCut = /[\ud800-\udbff]$/.test(text);
    this.#half = isCut ? text.slice(-1) : '';
    return cleaned(isCut ? text.slice(0, -1) : text);
  }

  /** What was kept back, now that nothing follows. */
  rest(): string {
    const half = this.#half;
    this.#half = '';
    return cleaned(half);
  }
}

function cleaned(text: string): string {
  return text.toWellFormed().replaceAll('\0', replacement);
}
