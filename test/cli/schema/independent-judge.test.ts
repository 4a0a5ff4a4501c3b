// Compares the check of replies with an independent validator of JSON Schema 2020-12: both give the same result for any reply.
import {
  registerSchema,
  setShouldValidateFormat,
  unregisterSchema,
  validate,
} from '@hyperjump/json-schema/draft-2020-12';
import '@hyperjump/json-schema/formats';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SchemaValidator } from '../../../src/cli/schema/schema-validator.ts';
import { repliesWith, type SampleReply, schemas, values } from '../../support/json-schemas.ts';
import { runs } from '../../support/runs.ts';

beforeAll(() => setShouldValidateFormat(true));
afterAll(() => setShouldValidateFormat(undefined));

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** The short form tries the same replies each time; the long form tries others. */
const seed = runs(1, 0) === 1 ? { seed: 1 } : {};

/** True for a JSON text that matches by the other validator. */
type Judge = (json: string) => boolean;

async function independentJudge(schema: object): Promise<Judge> {
  const uri = 'https://schema.test/one';
  registerSchema({ ...schema, $schema: dialect } as never, uri);
  try {
    const isValid = await validate(uri);
    return (json) => {
      let value: unknown;
      try {
        value = JSON.parse(json);
      } catch {
        return false;
      }
      return isValid(value as never).valid;
    };
  } finally {
    unregisterSchema(uri);
  }
}

const matches = (validator: SchemaValidator, { text }: SampleReply) => 'value' in validator.judge(text);

const invoice = {
  type: 'object',
  properties: {
    number: { type: 'string', pattern: '^[A-Z]{2}-\\d+$' },
    date: { type: 'string', format: 'date' },
    total: { type: 'number', exclusiveMinimum: 0 },
    status: { enum: ['open', 'paid', null] },
    lines: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 20 },
          count: { type: 'integer', minimum: 1 },
        },
        required: ['name', 'count'],
        additionalProperties: false,
      },
    },
  },
  required: ['number', 'lines'],
  unevaluatedProperties: false,
};
const tree = {
  $defs: {
    node: {
      $anchor: 'node',
      type: 'object',
      properties: { name: { type: 'string' }, nodes: { type: 'array', items: { $ref: '#node' } } },
      required: ['name'],
      additionalProperties: false,
    },
  },
  $ref: '#/$defs/node',
};

const text = fc.oneof(fc.constantFrom('', 'a', 'AB-1', 'ab-1', '2026-02-28', '2026-02-30', 'é'), fc.string());
const line = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  count: fc.integer({ min: 1, max: 9 }),
});
const good = fc.record(
  {
    number: fc.constantFrom('AB-1', 'ZZ-0042'),
    lines: fc.uniqueArray(line, { minLength: 1, maxLength: 4, selector: ({ name }) => name }),
    date: fc.constantFrom('2026-02-28', '2024-02-29'),
    total: fc.double({ min: 0.01, noNaN: true, noDefaultInfinity: true }),
    status: fc.constantFrom('open', 'paid', null),
  },
  { requiredKeys: ['number', 'lines'] },
);
/** One change that makes most invoices invalid. */
const change = fc.oneof(
  fc.record({ number: text }),
  fc.record({ date: text }),
  fc.record({ total: fc.oneof(fc.constantFrom(0, -0, -1), text) }),
  fc.record({ status: fc.constantFrom('open', 'late', false) }),
  fc.record({ more: fc.constant(true) }),
  fc.record({ lines: fc.array(line, { maxLength: 2 }) }),
  fc.record({ lines: fc.tuple(line, fc.record({ name: text, count: fc.constantFrom(1, 0, 1.5, '1') })) }),
);
const huge = fc.integer({ min: 1, max: runs(300, 20_000) }).map((length) => ({
  number: 'AB-1',
  lines: Array.from({ length }, (_, index) => ({
    name: `line ${index % (length - 1 || 1)}`,
    count: 1 + (index % 9),
  })),
}));
const invoices = fc.oneof(
  { weight: 12, arbitrary: good },
  { weight: 12, arbitrary: fc.tuple(good, change).map(([one, other]) => ({ ...one, ...other })) },
  { weight: 1, arbitrary: huge },
);
const trees = fc.oneof(
  fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.record(
      {
        name: fc.oneof({ weight: 9, arbitrary: fc.constant('a') }, fc.constant(1)),
        nodes: fc.array(tie('node'), { maxLength: 2, depthIdentifier: 'node' }),
      },
      { requiredKeys: ['name'] },
    ),
  })).node,
  fc.integer({ min: 1, max: 240 }).map((levels) => {
    let node: object = { name: 'leaf' };
    for (let level = 0; level < levels; level += 1) node = { name: 'a', nodes: [node] };
    return node;
  }),
);

test.each([
  { of: 'an invoice', schema: invoice, samples: invoices, few: 100, many: 5000 },
  { of: 'a tree of up to 480 levels', schema: tree, samples: trees, few: 50, many: 2000 },
])(
  'a reply with $of gets the same result as from another validator',
  async ({ schema, samples, few, many }) => {
    const validator = new SchemaValidator(JSON.stringify(schema));
    const isValid = await independentJudge(schema);
    let count = 0;
    let matched = 0;
    const replies = samples.chain((value) => repliesWith(JSON.stringify(value)));
    fc.assert(
      fc.property(replies, (reply) => {
        const expected = reply.json !== null && isValid(reply.json);
        expect(matches(validator, reply), reply.text.slice(0, 2000)).toBe(expected);
        count += 1;
        matched += Number(expected);
      }),
      { ...seed, numRuns: runs(few, many) },
    );
    // Both results occur: about a quarter of the replies match.
    expect(matched).toBeGreaterThan(0);
    expect(matched).toBeLessThan(count);
  },
);

test('with any accepted schema, a reply gets the same result as from another validator', async () => {
  await fc.assert(
    fc.asyncProperty(schemas, fc.array(values, { minLength: 4, maxLength: 8 }), async (schema, samples) => {
      const validator = new SchemaValidator(JSON.stringify(schema));
      const isValid = await independentJudge(schema);
      for (const value of samples) {
        const json = JSON.stringify(value);
        // Beside unevaluatedProperties such a name is refused by itself.
        if (JSON.stringify(schema).includes('unevaluated') && /constructor|toString/.test(json)) continue;
        expect({ json, matches: matches(validator, { text: json, json }) }).toEqual({
          json,
          matches: isValid(json),
        });
      }
    }),
    { ...seed, numRuns: runs(10, 600) },
  );
});
