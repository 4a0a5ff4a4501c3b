// The keywords of JSON Schema 2020-12 that a reply can be checked by, and what stands in each of them.

/** `schema`: a schema. `schemas`: a list of them. `named`: an object of them. `value`: no schema. */
export type KeywordContent = 'schema' | 'schemas' | 'named' | 'value';

interface Keyword {
  readonly content: KeywordContent;
  /** True if its schemas judge the same value as the schema around them, not a part of it. */
  readonly inPlace?: true;
}

const table: Readonly<Record<string, Keyword>> = {
  // Core.
  $schema: { content: 'value' },
  $id: { content: 'value' },
  $anchor: { content: 'value' },
  $ref: { content: 'value' },
  $comment: { content: 'value' },
  $defs: { content: 'named' },
  // Applicators.
  allOf: { content: 'schemas', inPlace: true },
  anyOf: { content: 'schemas', inPlace: true },
  oneOf: { content: 'schemas', inPlace: true },
  not: { content: 'schema', inPlace: true },
  if: { content: 'schema', inPlace: true },
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  then: { content: 'schema', inPlace: true },
  else: { content: 'schema', inPlace: true },
  dependentSchemas: { content: 'named', inPlace: true },
  prefixItems: { content: 'schemas' },
  items: { content: 'schema' },
  contains: { content: 'schema' },
  properties: { content: 'named' },
  patternProperties: { content: 'named' },
  additionalProperties: { content: 'schema' },
  propertyNames: { content: 'schema' },
  unevaluatedProperties: { content: 'schema' },
  // Validation.
  type: { content: 'value' },
  enum: { content: 'value' },
  const: { content: 'value' },
  multipleOf: { content: 'value' },
  maximum: { content: 'value' },
  exclusiveMaximum: { content: 'value' },
  minimum: { content: 'value' },
  exclusiveMinimum: { content: 'value' },
  maxLength: { content: 'value' },
  minLength: { content: 'value' },
  pattern: { content: 'value' },
  maxItems: { content: 'value' },
  minItems: { content: 'value' },
  uniqueItems: { content: 'value' },
  maxContains: { content: 'value' },
  minContains: { content: 'value' },
  maxProperties: { content: 'value' },
  minProperties: { content: 'value' },
  required: { content: 'value' },
  dependentRequired: { content: 'value' },
  format: { content: 'value' },
  // Annotations, which say nothing that could be checked.
  title: { content: 'value' },
  description: { content: 'value' },
  default: { content: 'value' },
  deprecated: { content: 'value' },
  readOnly: { content: 'value' },
  writeOnly: { content: 'value' },
  examples: { content: 'value' },
};

/** Null for a keyword that cannot be checked. */
export function keywordOf(name: string): Keyword | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}

/** The formats that are checked. The other formats of the standard are those of addresses beyond ASCII. */
export const checkedFormats = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'json-pointer',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
] as const;

/** Why a keyword of the standard cannot be checked here, with the way to say it otherwise. Other keywords are unknown. */
export const otherWays: Readonly<Record<string, string>> = {
  unevaluatedItems: 'cannot be checked here; "items": false after prefixItems allows no further items',
  $dynamicRef: 'cannot be checked here; $ref names one schema',
  $dynamicAnchor: 'cannot be checked here; $anchor names one schema',
  $vocabulary: 'cannot be checked here',
  contentEncoding: 'cannot be checked here',
  contentMediaType: 'cannot be checked here',
  contentSchema: 'cannot be checked here',
  definitions: 'is of an older draft; in 2020-12 it is $defs',
  dependencies: 'is of an older draft; in 2020-12 it is dependentRequired or dependentSchemas',
  additionalItems: 'is of an older draft; in 2020-12 it is items, beside prefixItems',
  $recursiveRef: 'is of an older draft',
  $recursiveAnchor: 'is of an older draft',
  nullable: 'is of OpenAPI 3.0; in 2020-12 a type may be a list: ["string", "null"]',
  discriminator: 'is of OpenAPI; in 2020-12 const in each branch of oneOf says the same',
};
