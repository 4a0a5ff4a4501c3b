// The supported keywords of JSON Schema 2020-12, and what each contains.

/** `schema` is a schema, `schemas` a list of schemas, `named` an object of schemas, and `value` no schema. */
export type KeywordContent = 'schema' | 'schemas' | 'named' | 'value';

interface Keyword {
  readonly content: KeywordContent;
  /** True if its schemas apply to the same value as the enclosing schema, not to a part of it. */
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
  // Annotations, which need no check.
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

/** The supported formats. The standard's other formats are for internationalized addresses. */
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

/** Why a keyword is not supported, with an alternative. Keywords that are not listed are unknown. */
const unsupportedReasons: Readonly<Record<string, string>> = {
  unevaluatedItems: 'is not supported; "items": false with prefixItems allows no further items',
  $dynamicRef: 'is not supported; use $ref',
  $dynamicAnchor: 'is not supported; use $anchor',
  $vocabulary: 'is not supported',
  contentEncoding: 'is not supported',
  contentMediaType: 'is not supported',
  contentSchema: 'is not supported',
  definitions: 'is from an older draft; 2020-12 has $defs',
  dependencies: 'is from an older draft; 2020-12 has dependentRequired and dependentSchemas',
  additionalItems: 'is from an older draft; 2020-12 has items with prefixItems',
  $recursiveRef: 'is from an older draft',
  $recursiveAnchor: 'is from an older draft',
  nullable: 'is from OpenAPI 3.0; in 2020-12 a type may be a list: ["string", "null"]',
  discriminator: 'is from OpenAPI; in 2020-12, use const in each branch of oneOf',
};

/** Null for a name that is not listed. */
export function unsupportedReason(name: string): string | null {
  return Object.hasOwn(unsupportedReasons, name) ? (unsupportedReasons[name] ?? null) : null;
}
