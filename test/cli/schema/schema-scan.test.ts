// Which schemas are accepted. A part that cannot be checked is refused with its place, and so is a schema whose check might not end.
import { describe, expect, test } from 'vitest';
import { UnreadableJson } from '../../../src/cli/schema/exact-reader.ts';
import { SchemaValidator } from '../../../src/cli/schema/schema-validator.ts';

function faultOf(text: string) {
  try {
    new SchemaValidator(text);
    return null;
  } catch (error) {
    if (error instanceof UnreadableJson) return error.fault;
    throw error;
  }
}

describe('a schema is refused', () => {
  test.each([
    [
      '{"properties":{"a":{"maxlength":3}}}',
      '/properties/a/maxlength',
      'is not a keyword of JSON Schema 2020-12',
    ],
    ['{"x-note":1}', '/x-note', 'is not a keyword of JSON Schema 2020-12'],
    ['{"constructor":1}', '/constructor', 'is not a keyword of JSON Schema 2020-12'],
    ['{"__proto__":1}', '/__proto__', 'is not a keyword of JSON Schema 2020-12'],
    ['{"$ref":"https://example.com/person.json"}', '/$ref', 'refers to another document'],
    ['{"$ref":"other.json#/a"}', '/$ref', 'refers to another document'],
    ['{"$ref":"#/$defs/none"}', '/$ref', 'does not name a schema of this document'],
    [
      '{"$defs":{"toString":true},"$ref":"#/$defs/valueOf"}',
      '/$ref',
      'does not name a schema of this document',
    ],
    [
      '{"properties":{"a":{"const":{"b":{}}},"c":{"$ref":"#/properties/a/const/b"}}}',
      '/properties/c/$ref',
      'does not name a schema',
    ],
    ['{"items":{"$dynamicRef":"#node"}}', '/items/$dynamicRef', 'is not supported'],
    ['{"prefixItems":[true],"unevaluatedItems":false}', '/unevaluatedItems', 'is not supported'],
    ['{"prefixItems":[true],"contains":true}', '/contains', 'is not supported together with prefixItems'],
    ['{"contentMediaType":"application/json"}', '/contentMediaType', 'is not supported'],
    ['{"items":{"$id":"https://example.com/item"}}', '/items/$id', 'is allowed in the root schema only'],
    ['{"items":{"format":"postcode"}}', '/items/format', 'is not a supported format'],
    ['{"definitions":{}}', '/definitions', '2020-12 has $defs'],
    [
      '{"$schema":"http://json-schema.org/draft-07/schema#"}',
      '/$schema',
      'must be https://json-schema.org/draft/2020-12',
    ],
    ['{"pattern":"(a"}', '/pattern', 'is not a regular expression'],
    ['{"patternProperties":{"a/[":true}}', '/patternProperties/a~1[', 'is not a regular expression'],
    ['{"properties":{"__proto__":true}}', '/properties/__proto__', 'with this name cannot be checked'],
    [
      '{"dependentRequired":{"__proto__":["a"]}}',
      '/dependentRequired/__proto__',
      'with this name cannot be checked',
    ],
    ['{"allOf":[{"$ref":"#"}]}', '/allOf/0', 'refers to itself for the same value'],
    ['{"$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"$ref":"#/$defs/a"}}}', '/$defs/b', 'refers to itself'],
    ['{"maximum":9007199254740993}', '/maximum', 'has more digits than can be compared'],
    ['{"type":"string","type":"number"}', '/type', 'the name is repeated'],
    ['{"type":"text"}', '/type', 'must match'],
    ['{"minLength":-1}', '/minLength', 'must be >= 0'],
    ['{"required":"a"}', '/required', 'must be array'],
    ['{"items":[true]}', '/items', 'a schema must be an object'],
    ['{"properties":[]}', '/properties', 'must be an object of schemas'],
    ['true', '', 'the schema must be an object'],
    ['{"type":', '', 'it ends before the JSON value is complete'],
    ['{\n  "type" "string"}', '', 'it is not JSON (line 2, column 10)'],
    [
      `${'{"not":'.repeat(501)}{}${'}'.repeat(501)}`,
      '/not'.repeat(500),
      'it is nested deeper than 500 levels',
    ],
  ])('%s', (text, place, reason) => {
    expect(faultOf(text)).toEqual({ place, reason: expect.stringContaining(reason) });
  });
});

describe('a schema is accepted', () => {
  test.each([
    ['a reference to itself that goes deeper', '{"properties":{"next":{"$ref":"#"}}}'],
    [
      'a reference by its own $id',
      '{"$id":"https://x.test/a","$defs":{"b":true},"$ref":"https://x.test/a#/$defs/b"}',
    ],
    ['an anchor', '{"$defs":{"b":{"$anchor":"here"}},"items":{"$ref":"#here"}}'],
    ['a name with a slash', '{"$defs":{"a/b":true},"$ref":"#/$defs/a~1b"}'],
    [
      'annotations',
      '{"title":"T","description":"D","default":{"__proto__":1},"examples":[1],"deprecated":true,"$comment":"C"}',
    ],
    [
      'a property with the name of a keyword',
      '{"properties":{"unevaluatedItems":{"type":"string"},"nullable":true}}',
    ],
    ['100 levels', `${'{"not":'.repeat(100)}{}${'}'.repeat(100)}`],
  ])('with %s', (_what, text) => {
    expect(faultOf(text)).toBeNull();
  });
});
