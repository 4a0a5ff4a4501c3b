// The validator of one schema: Ajv for JSON Schema 2020-12, with formats. It runs in its own thread, because a schema may contain a regular
// expression that runs forever.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ExactNumber } from '../../service/exact-number.ts';
import { type Fault, type ReadJson, readExactJson, UnreadableJson } from './exact-reader.ts';
import { checkedFormats } from './schema-keywords.ts';
import { type ScannedSchema, scanSchema } from './schema-scan.ts';
import { addValueKeywords } from './value-keywords.ts';

/** The value of a reply that matches, or the reasons why it does not, the most important first. */
export type Judgement = { readonly value: unknown } | { readonly faults: readonly Fault[] };

const options = { strict: false, ownProperties: true, logger: false } as const;
/** Has the compiled meta-schema, which takes longer to compile than most schemas. */
const standard = new Ajv2020(options);
/** The most faults to report. */
const maxFaults = 5;
/** Names that every JavaScript object has. Ajv counts them as evaluated, because it tracks names in such an object. */
const commonNames: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

export class SchemaValidator {
  readonly #scanned: ScannedSchema;
  readonly #validate: ValidateFunction;

  /** Throws `UnreadableJson` for a schema that cannot be used. */
  constructor(text: string) {
    this.#scanned = scanSchema(text);
    const { schema } = this.#scanned;
    if (standard.validateSchema(schema) !== true) throw new UnreadableJson(faultOf(standard.errors?.at(-1)));
    const ajv = new Ajv2020({ ...options, validateSchema: false });
    addFormats.default(ajv, [...checkedFormats]);
    addValueKeywords(ajv);
    try {
      this.#validate = ajv.compile(schema);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UnreadableJson({ place: '', reason: `the schema cannot be used: ${reason}` });
    }
  }

  judge(reply: string): Judgement {
    if (reply.length > maxCharacters)
      return { faults: [{ place: '', reason: `it is longer than ${maxCharacters} characters` }] };
    try {
      const read = readReply(reply);
      const fault = uncomparableNumber(read, this.#scanned) ?? this.#uncheckableName(read.value, '');
      if (fault !== null) return { faults: [fault] };
      if (this.#validate(roundedIn(read.value))) return { value: read.value };
      const [last, ...others] = (this.#validate.errors ?? []).map(faultOf).reverse();
      return { faults: [last ?? faultOf(undefined), ...others].slice(0, maxFaults) };
    } catch (error) {
      if (error instanceof UnreadableJson) return { faults: [error.fault] };
      throw error;
    }
  }

  /** Finds a property that `unevaluatedProperties` would miss. */
  #uncheckableName(value: unknown, place: string): Fault | null {
    if (!this.#scanned.hasUnevaluated || typeof value !== 'object' || value === null) return null;
    for (const [name, inner] of Object.entries(value)) {
      const at = `${place}/${name}`;
      if (commonNames.has(name) && !Array.isArray(value))
        return {
          place: at,
          reason: 'a property with this name cannot be checked with unevaluatedProperties',
        };
      const fault = this.#uncheckableName(inner, at);
      if (fault !== null) return fault;
    }
    return null;
  }
}

/** The value with JavaScript numbers, because the validator knows no others. */
function roundedIn(value: unknown): unknown {
  if (value instanceof ExactNumber) return Number(value);
  if (Array.isArray(value)) return value.map(roundedIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, roundedIn(inner)]));
}

function faultOf(error: ErrorObject | undefined): Fault {
  if (error === undefined) return { place: '', reason: 'it does not match' };
  const { instancePath: place, message = 'does not match', params } = error;
  const name = params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName'];
  return { place, reason: typeof name === 'string' ? `${message}: ${JSON.stringify(name)}` : message };
}

/** The most characters of a reply that is checked. */
const maxCharacters = 8 * 1024 * 1024;

const openingFence = /^(`{3,}|~{3,})[ \t]*(?:json)?[ \t]*$/i;

/**
 * Parses the JSON of a reply. Models often put it into a fenced block (```json) although they are asked not to, so such a block is accepted.
 * Any other text around the JSON is an error. Throws `UnreadableJson`.
 */
function readReply(reply: string): ReadJson {
  return readExactJson(unfenced(reply.replace(/^\ufeff/, '').trim()));
}

/** The text between the fences, if the whole reply is one block of JSON; otherwise the reply. */
function unfenced(text: string): string {
  const start = text.indexOf('\n');
  const end = text.lastIndexOf('\n');
  const [, fence] = openingFence.exec(text.slice(0, Math.max(start, 0)).trimEnd()) ?? [];
  if (fence === undefined || start === end || text.slice(end + 1).trim() !== fence) return text;
  return text.slice(start + 1, end);
}

/**
 * The first number that a JavaScript number cannot represent and whose digits matter for the schema; null if there is none. Rounding keeps the
 * order of numbers, so a rounded number compares wrongly only with the number that it was rounded to.
 */
function uncomparableNumber({ inexact }: ReadJson, schema: ScannedSchema): Fault | null {
  for (const { place, number } of inexact) {
    const rounded = Number(number);
    const isInteger = /^-?\d+$/.test(number.literal);
    const isSafe = Number.isFinite(rounded) && isInteger === Number.isInteger(rounded);
    if (!isSafe || schema.comparesAll || schema.numbers.has(rounded))
      return { place, reason: 'the number has more digits than can be compared' };
  }
  return null;
}
