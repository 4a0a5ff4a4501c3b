// A queue of the keys that arrive while a completion runs or an editor is open.
import { isTab, type LineInput } from './line-input.ts';

export class WaitingKeys {
  #inputs: LineInput[] = [];

  /** A Tab after a Tab is dropped, because each would only request the same choices again. */
  add(input: LineInput): void {
    const last = this.#inputs.at(-1);
    if (last === undefined || !isTab(last) || !isTab(input)) this.#inputs.push(input);
  }

  drop(): void {
    this.#inputs = [];
  }

  /** Passes the keys on until one of them starts work that makes the others wait. Returns false if no key was passed on. */
  handOver(take: (input: LineInput) => void, isBusy: () => boolean): boolean {
    const inputs = this.#inputs;
    this.#inputs = [];
    let taken = 0;
    for (const input of inputs) {
      if (isBusy()) break;
      take(input);
      taken += 1;
    }
    this.#inputs = [...inputs.slice(taken), ...this.#inputs];
    return taken > 0;
  }
}
