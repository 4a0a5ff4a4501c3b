// Schemas and replies for property tests: JSON Schemas with all supported keywords, values that nearly match, and replies that contain a value in
// the ways of models.
import fc from 'fast-check';

export type Schema = boolean | { readonly [keyword: string]: unknown };

const names = ['a', 'b', 'c', 'constructor', 'toString'];
const name = fc.constantFrom(...names);
const scalar = fc.constantFrom(
  null,
  true,
  false,
  0,
  1,
  2,
  -1,
  1.5,
  0.3,
  1e20,
  '',
  'a',
  'ab',
  'b',
  'é',
  '2026-11-23',
);

/** Values of a few names and scalars, so that they often match. */
export const values: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const leaf: fc.Arbitrary<Schema> = fc.constantFrom<Schema>(
  true,
  false,
  { type: 'string' },
  { type: 'integer' },
  { type: ['object', 'null'] },
  { const: 1 },
);

function keywordsOver(inner: fc.Arbitrary<Schema>): readonly fc.Arbitrary<object>[] {
  const one = <Key extends string>(key: Key, value: fc.Arbitrary<unknown>) => fc.record({ [key]: value });
  const count = fc.constantFrom(0, 1, 2);
  const named = fc.dictionary(name, inner, { minKeys: 1, maxKeys: 2 });
  const list = fc.array(inner, { minLength: 1, maxLength: 2 });
  const types = fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null', 'boolean');
  return [
    one('type', types),
    one('type', fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
    one('enum', fc.array(values, { minLength: 1, maxLength: 3 })),
    one('const', values),
    one('minimum', fc.constantFrom(0, 1, 1.5)),
    one('maximum', count),
    one('exclusiveMinimum', count),
    one('exclusiveMaximum', count),
    one('multipleOf', fc.constantFrom(1, 2, 0.5)),
    one('minLength', count),
    one('maxLength', count),
    one('pattern', fc.constantFrom('^a', 'b$', 'é', '^.$')),
    one('format', fc.constantFrom('date', 'ipv4', 'uuid')),
    one('properties', named),
    one('required', fc.uniqueArray(name, { minLength: 1, maxLength: 2 })),
    one('additionalProperties', inner),
    one('patternProperties', fc.dictionary(fc.constantFrom('^a', 'o', '^[bc]$'), inner, { minKeys: 1 })),
    one(
      'propertyNames',
      fc.constantFrom({ maxLength: 1 }, { pattern: '^[ab]' }, { enum: ['a', 'toString'] }),
    ),
    one('minProperties', count),
    one('maxProperties', count),
    one('dependentRequired', fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { minKeys: 1 })),
    one('dependentSchemas', named),
    one('items', inner),
    one('prefixItems', list),
    one('contains', inner),
    fc.record({ contains: inner, minContains: count, maxContains: count }),
    one('minItems', count),
    one('maxItems', count),
    one('uniqueItems', fc.boolean()),
    one('allOf', list),
    one('anyOf', list),
    one('oneOf', list),
    one('not', inner),
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    fc.record({ if: inner, then: inner, else: inner }, { requiredKeys: ['if'] }),
    one('unevaluatedProperties', inner),
    one('$ref', fc.constant('#/$defs/x')),
  ];
}

const inner: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(fc.oneof(...keywordsOver(tie('schema'))), { minLength: 1, maxLength: 3 }).map(together),
  ),
})).schema;

/** Schemas of one to four keywords, with schemas inside. */
export const schemas: fc.Arbitrary<{ readonly [keyword: string]: unknown }> = fc
  .tuple(fc.array(fc.oneof(...keywordsOver(inner)), { minLength: 1, maxLength: 4 }), inner)
  .map(([parts, shared]) => ({ ...together(parts), $defs: { x: withoutReferences(shared) } }));

/** `contains` with `prefixItems` is refused. */
function together(parts: readonly object[]): { readonly [keyword: string]: unknown } {
  const { prefixItems, ...others } = Object.assign({}, ...parts);
  return 'contains' in others || prefixItems === undefined ? others : { ...others, prefixItems };
}

function withoutReferences(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref"', '"$comment"'));
}

export interface SampleReply {
  readonly text: string;
  /** The value in the reply; null if there is other text around it. */
  readonly json: string | null;
}

const fenceOf = (json: string, word: string, mark = '```') => `${mark}${word}\n${json}\n${mark}`;

/** A reply with the JSON of a value: bare, spaced, fenced, cut, or with words around it. */
export function repliesWith(json: string): fc.Arbitrary<SampleReply> {
  const plain = (text: string): SampleReply => ({ text, json });
  const spoilt = (text: string): SampleReply => ({ text, json: null });
  return fc.oneof(
    fc.constantFrom(
      plain(json),
      plain(` \n${json}\n\n`),
      plain(fenceOf(json, 'json')),
      plain(fenceOf(json, '')),
      plain(`${fenceOf(json, 'JSON', '~~~~')}\n`),
      spoilt(`Here it is:\n${fenceOf(json, 'json')}`),
      spoilt(`${json}\nI hope this helps.`),
      spoilt(fenceOf(json, 'python')),
      spoilt(`\`\`\`json\n${json}`),
    ),
    fc.nat(json.length).map((end) => ({ text: json.slice(0, end), json: json.slice(0, end) })),
  );
}
