// A queue for several parties that take turns: before its next item, a party waits for at most one item of each other party. The items of
// one party stay in their order.

interface PartyItem {
  readonly party: string;
}

interface Party<Item> {
  readonly name: string;
  items: Item[];
}

export class FairQueue<Item extends PartyItem> {
  /** The parties that have items. */
  readonly #parties = new Map<string, Party<Item>>();
  /** The same parties in the order of their turns. */
  #turns: Party<Item>[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(item: Item): void {
    const party = this.#parties.get(item.party);
    if (party === undefined) this.#addParty({ name: item.party, items: [item] });
    else party.items.push(item);
    this.#length += 1;
  }

  /** Takes the first item of the party whose turn it is, and moves that party to the end. */
  take(): Item | undefined {
    const party = this.#turns.shift();
    if (party === undefined) return undefined;
    const item = party.items.shift();
    if (party.items.length > 0) this.#turns.push(party);
    else this.#parties.delete(party.name);
    this.#length -= 1;
    return item;
  }

  /** Removes the items for which `isWanted` is true, and returns them. Calls `isWanted` once for each item. */
  takeWhere(isWanted: (item: Item) => boolean): readonly Item[] {
    const taken: Item[] = [];
    for (const party of this.#turns) {
      const left: Item[] = [];
      for (const item of party.items) (isWanted(item) ? taken : left).push(item);
      party.items = left;
      if (left.length === 0) this.#parties.delete(party.name);
    }
    this.#turns = this.#turns.filter(({ items }) => items.length > 0);
    this.#length -= taken.length;
    return taken;
  }

  /** Puts the items that were taken last back before all others. */
  putBack(items: readonly Item[]): void {
    const others = this.takeWhere(() => true);
    for (const item of [...items, ...others]) this.add(item);
  }

  #addParty(party: Party<Item>): void {
    this.#parties.set(party.name, party);
    this.#turns.push(party);
  }
}
