// The keys that wait while a completion runs or an editor is open.
import { isTab, type LineInput } from './line-input.ts';

export class WaitingKeys {
  #inputs: LineInput[] = [];

  /** Tab behind Tab has no effect of its own, and each would ask for the choices once more. */
  add(input: LineInput): void {
    const last = this.#inputs.at(-1);
    if (last === undefined || !isTab(last) || !isTab(input)) this.#inputs.push(input);
  }

  drop(): void {
    this.#inputs = [];
  }

  /** Hands the keys over until one of them keeps the others waiting. Returns false if no key waited. */
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
