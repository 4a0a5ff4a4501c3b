// The references inside a schema. Each must name a schema of the same text: nothing is fetched. A schema that refers to itself without
// going deeper into the value would be checked without end, and is refused.
import { placeIn, UnreadableJson } from './exact-reader.ts';

export class SchemaReferences {
  readonly #id: string;
  /** The schemas that judge the same value, by the place of the schema around them. */
  readonly #inPlace = new Map<string, string[]>();
  readonly #anchors = new Map<string, string>();
  readonly #references: { readonly from: string; readonly reference: string }[] = [];

  /** `id`: the `$id` of the outermost schema, if it has one. */
  constructor(id: unknown) {
    this.#id = typeof id === 'string' ? id.replace(/#$/, '') : '';
  }

  /** Notes a schema. `around`: the schema that judges the same value; null if there is none. */
  add(place: string, around: string | null): void {
    if (!this.#inPlace.has(place)) this.#inPlace.set(place, []);
    if (around !== null) this.#inPlace.get(around)?.push(place);
  }

  /** Notes the `$anchor` of a schema. */
  name(place: string, anchor: unknown): void {
    const at = placeIn(place, '$anchor');
    if (typeof anchor !== 'string') throw refusal(at, 'must be a text');
    if (this.#anchors.has(anchor)) throw refusal(at, 'is given twice');
    this.#anchors.set(anchor, place);
  }

  /** Notes the `$ref` of a schema. */
  refer(from: string, reference: unknown): void {
    if (typeof reference !== 'string') throw refusal(placeIn(from, '$ref'), 'must be a text');
    this.#references.push({ from, reference });
  }

  /** Call it once all schemas are noted. Throws {@link UnreadableJson}. */
  check(): void {
    for (const { from, reference } of this.#references) {
      this.#inPlace.get(from)?.push(this.#target(reference, placeIn(from, '$ref')));
    }
    this.#requireEnd();
  }

  #target(reference: string, at: string): string {
    const mark = reference.indexOf('#');
    const document = mark === -1 ? reference : reference.slice(0, mark);
    if (document !== '' && document !== this.#id)
      throw refusal(at, 'refers to another document, and none is fetched; $defs holds further schemas');
    let name: string;
    try {
      name = mark === -1 ? '' : decodeURIComponent(reference.slice(mark + 1));
    } catch {
      throw refusal(at, 'is not a URI reference');
    }
    const place = name === '' || name.startsWith('/') ? name : this.#anchors.get(name);
    if (place === undefined || !this.#inPlace.has(place))
      throw refusal(at, 'names no schema of this document');
    return place;
  }

  /** Goes through the schemas that judge one value. `#inPlace` is a graph; a way that meets itself has no end. */
  #requireEnd(): void {
    const done = new Set<string>();
    for (const start of this.#inPlace.keys()) {
      const way = [{ place: start, next: 0 }];
      const onWay = new Set([start]);
      while (way.length > 0) {
        const step = way.at(-1);
        if (step === undefined) break;
        const place = done.has(step.place) ? undefined : this.#inPlace.get(step.place)?.[step.next++];
        if (place === undefined) {
          done.add(step.place);
          onWay.delete(step.place);
          way.pop();
        } else if (onWay.has(place)) {
          throw refusal(step.place, 'refers to itself without going deeper into the value');
        } else {
          onWay.add(place);
          way.push({ place, next: 0 });
        }
      }
    }
  }
}

function refusal(place: string, reason: string): UnreadableJson {
  return new UnreadableJson({ place, reason });
}
