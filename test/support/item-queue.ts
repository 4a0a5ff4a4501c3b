// A queue of items and of readers that wait for them: the next item may arrive before or after its reader.
export class ItemQueue<T> {
  readonly #items: T[] = [];
  readonly #readers: ((item: T) => void)[] = [];

  add(item: T): void {
    const reader = this.#readers.shift();
    if (reader === undefined) this.#items.push(item);
    else reader(item);
  }

  next(): Promise<T> {
    const item = this.#items.shift();
    return item === undefined ? new Promise((resolve) => this.#readers.push(resolve)) : Promise.resolve(item);
  }
}
