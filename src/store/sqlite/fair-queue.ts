// A queue for several parties that take turns: before its next item, a party waits for at most one item of each other party. The items of
// one party stay in their order.

interface OfParty {
  readonly party: string;
}

export class FairQueue<Item extends OfParty> {
  /** The parties in the order of their turns. A party without items is not in the map. */
  readonly #parties = new Map<string, Item[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(item: Item): void {
    const items = this.#parties.get(item.party);
    if (items === undefined) this.#parties.set(item.party, [item]);
    else items.push(item);
    this.#length += 1;
  }

  /** Takes the first item of the party whose turn it is, and moves that party to the end. */
  take(): Item | undefined {
    for (const [party, items] of this.#parties) {
      const item = items.shift();
      this.#parties.delete(party);
      if (items.length > 0) this.#parties.set(party, items);
      this.#length -= 1;
      return item;
    }
    return undefined;
  }

  /** Removes the items for which `isWanted` is true, and returns them. */
  takeWhere(isWanted: (item: Item) => boolean): readonly Item[] {
    const taken: Item[] = [];
    for (const [party, items] of this.#parties) {
      const left = items.filter((item) => !isWanted(item));
      if (left.length === items.length) continue;
      taken.push(...items.filter(isWanted));
      if (left.length === 0) this.#parties.delete(party);
      else this.#parties.set(party, left);
    }
    this.#length -= taken.length;
    return taken;
  }
}
