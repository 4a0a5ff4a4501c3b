// The references of a schema. Each must name a schema of the same document, because nothing is fetched. A schema that refers to itself for the
// same value is refused, because its check would never end.
import { placeIn, UnreadableJson } from './exact-reader.ts';

export class SchemaReferences {
  readonly #id: string;
  /** The schemas that apply to the same value, keyed by the place of the enclosing schema. */
  readonly #inPlace = new Map<string, string[]>();
  readonly #anchors = new Map<string, string>();
  readonly #references: { readonly from: string; readonly reference: string }[] = [];

  /** `id` is the `$id` of the root schema, if it has one. */
  constructor(id: unknown) {
    this.#id = typeof id === 'string' ? id.replace(/#$/, '') : '';
  }

  /** Adds a schema. `enclosing` is the schema that applies to the same value; null if there is none. */
  add(place: string, enclosing: string | null): void {
    if (!this.#inPlace.has(place)) this.#inPlace.set(place, []);
    if (enclosing !== null) this.#inPlace.get(enclosing)?.push(place);
  }

  /** Adds the `$anchor` of a schema. */
  addAnchor(place: string, anchor: unknown): void {
    const at = placeIn(place, '$anchor');
    if (typeof anchor !== 'string') throw refusal(at, 'must be a string');
    if (this.#anchors.has(anchor)) throw refusal(at, 'is defined twice');
    this.#anchors.set(anchor, place);
  }

  /** Adds the `$ref` of a schema. */
  addReference(from: string, reference: unknown): void {
    if (typeof reference !== 'string') throw refusal(placeIn(from, '$ref'), 'must be a string');
    this.#references.push({ from, reference });
  }

  /** Call it when all schemas are added. Throws {@link UnreadableJson}. */
  check(): void {
    for (const { from, reference } of this.#references) {
      this.#inPlace.get(from)?.push(this.#target(reference, placeIn(from, '$ref')));
    }
    this.#requireNoCycle();
  }

  #target(reference: string, at: string): string {
    const mark = reference.indexOf('#');
    const document = mark === -1 ? reference : reference.slice(0, mark);
    if (document !== '' && document !== this.#id)
      throw refusal(at, 'refers to another document, which is not fetched; put further schemas into $defs');
    let name: string;
    try {
      name = mark === -1 ? '' : decodeURIComponent(reference.slice(mark + 1));
    } catch {
      throw refusal(at, 'is not a URI reference');
    }
    const place = name === '' || name.startsWith('/') ? name : this.#anchors.get(name);
    if (place === undefined || !this.#inPlace.has(place))
      throw refusal(at, 'does not name a schema of this document');
    return place;
  }

  /** Searches the graph `#inPlace` depth-first for a cycle. */
  #requireNoCycle(): void {
    const done = new Set<string>();
    for (const start of this.#inPlace.keys()) {
      const path = [{ place: start, next: 0 }];
      const onPath = new Set([start]);
      while (path.length > 0) {
        const step = path.at(-1);
        if (step === undefined) break;
        const place = done.has(step.place) ? undefined : this.#inPlace.get(step.place)?.[step.next++];
        if (place === undefined) {
          done.add(step.place);
          onPath.delete(step.place);
          path.pop();
        } else if (onPath.has(place)) {
          throw refusal(step.place, 'refers to itself for the same value');
        } else {
          onPath.add(place);
          path.push({ place, next: 0 });
        }
      }
    }
  }
}

/** The error of a schema that cannot be used. */
export function refusal(place: string, reason: string): UnreadableJson {
  return new UnreadableJson({ place, reason });
}
