// Scans a JSON Schema before it is used. A schema with any part that cannot be checked is refused, so that no reply passes an incomplete check.
import { placeIn, readExactJson, UnreadableJson } from './exact-reader.ts';
import { checkedFormats, type KeywordContent, keywordOf, unsupportedReason } from './schema-keywords.ts';
import { refusal, SchemaReferences } from './schema-references.ts';

export interface ScannedSchema {
  readonly schema: SchemaObject;
  /** All numbers in the schema. A reply's number that was rounded to one of them cannot be compared. */
  readonly numbers: ReadonlySet<number>;
  /** True if numbers of the reply are compared with each other or divided. */
  readonly comparesAll: boolean;
  /** True if the schema has `unevaluatedProperties`. */
  readonly hasUnevaluated: boolean;
}

export type SchemaObject = Readonly<Record<string, unknown>>;

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** Throws {@link UnreadableJson} with the place and the reason if the text is not a schema or cannot be checked completely. */
export function scanSchema(text: string): ScannedSchema {
  const { value, inexact } = readExactJson(text);
  const [first] = inexact;
  if (first !== undefined) throw refusal(first.place, 'the number has more digits than can be compared');
  if (!isObject(value)) throw refusal('', 'the schema must be an object');
  return new SchemaScan(value).run();
}

class SchemaScan {
  readonly #root: SchemaObject;
  readonly #references: SchemaReferences;
  readonly #numbers = new Set<number>();
  #comparesAll = false;
  #hasUnevaluated = false;

  constructor(root: SchemaObject) {
    this.#root = root;
    this.#references = new SchemaReferences(root['$id']);
  }

  run(): ScannedSchema {
    this.#visit(this.#root, '', null);
    this.#references.check();
    this.#collectNumbers(this.#root);
    const numbers = this.#numbers;
    return {
      schema: this.#root,
      numbers,
      comparesAll: this.#comparesAll,
      hasUnevaluated: this.#hasUnevaluated,
    };
  }

  /** `enclosing` is the place of the schema that applies to the same value; null if this schema applies to a part of it. */
  #visit(schema: unknown, place: string, enclosing: string | null): void {
    this.#references.add(place, enclosing);
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) throw refusal(place, 'a schema must be an object, true or false');
    for (const [name, value] of Object.entries(schema)) {
      const at = placeIn(place, name);
      const keyword = keywordOf(name);
      if (keyword === null)
        throw refusal(at, unsupportedReason(name) ?? 'is not a keyword of JSON Schema 2020-12');
      this.#visitKeyword(schema, name, value, place);
      for (const [inner, innerPlace] of schemasIn(keyword.content, value, at)) {
        this.#visit(inner, innerPlace, keyword.inPlace === true ? place : null);
      }
    }
  }

  /** Refuses values that cannot be checked, and records what the check of a reply needs to know. */
  #visitKeyword(schema: SchemaObject, name: string, value: unknown, place: string): void {
    const at = placeIn(place, name);
    switch (name) {
      case '$schema':
        if (place !== '') throw refusal(at, 'is allowed in the root schema only');
        if (typeof value !== 'string' || value.replace(/#$/, '') !== dialect)
          throw refusal(at, `must be ${dialect}: other drafts are not supported`);
        break;
      case '$id':
        if (place !== '')
          throw refusal(at, 'is allowed in the root schema only; put further schemas into $defs');
        break;
      case '$anchor':
        this.#references.addAnchor(place, value);
        break;
      case '$ref':
        this.#references.addReference(place, value);
        break;
      case 'format':
        if (!(checkedFormats as readonly unknown[]).includes(value))
          throw refusal(at, `is not a supported format: ${checkedFormats.join(', ')}`);
        break;
      case 'pattern':
        requirePattern(value, at);
        break;
      case 'patternProperties':
        for (const pattern of Object.keys(isObject(value) ? value : {}))
          requirePattern(pattern, placeIn(at, pattern));
        break;
      case 'contains':
        if (Object.hasOwn(schema, 'prefixItems'))
          throw refusal(at, 'is not supported together with prefixItems; put it into a schema of allOf');
        break;
      case 'multipleOf':
        this.#comparesAll = true;
        break;
      case 'uniqueItems':
        this.#comparesAll ||= value === true;
        break;
      case 'unevaluatedProperties':
        this.#hasUnevaluated = true;
        break;
    }
    // The validator ignores this name.
    if (isObject(value) && name !== 'const' && name !== 'default' && Object.hasOwn(value, '__proto__'))
      throw refusal(placeIn(at, '__proto__'), 'a property with this name cannot be checked');
  }

  #collectNumbers(value: unknown): void {
    if (typeof value === 'number') this.#numbers.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) this.#collectNumbers(inner);
  }
}

function* schemasIn(
  content: KeywordContent,
  value: unknown,
  at: string,
): Generator<readonly [schema: unknown, place: string]> {
  switch (content) {
    case 'schema':
      yield [value, at];
      break;
    case 'schemas':
      if (!Array.isArray(value)) throw refusal(at, 'must be a list of schemas');
      for (const [number, inner] of value.entries()) yield [inner, placeIn(at, number)];
      break;
    case 'named':
      if (!isObject(value)) throw refusal(at, 'must be an object of schemas');
      for (const [name, inner] of Object.entries(value)) yield [inner, placeIn(at, name)];
      break;
  }
}

function requirePattern(pattern: unknown, at: string): void {
  if (typeof pattern !== 'string') throw refusal(at, 'must be a string');
  try {
    new RegExp(pattern, 'u');
  } catch {
    throw refusal(at, 'is not a regular expression (ECMA-262, with Unicode)');
  }
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
