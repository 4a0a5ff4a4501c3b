// The thread that checks replies: an endless regular expression stops neither the program nor the next check.
import { expect, test } from 'vitest';
import { CheckingThread } from '../../../src/cli/schema/checking-thread.ts';
import { SchemaCheck } from '../../../src/cli/schema/schema-check.ts';
import { builtFile } from '../../support/built-file.ts';
import { failureOf } from '../../support/calls.ts';

/** The thread of the build. */
const thread = builtFile('schema-thread');
/** Takes longer than any limit, for a text of many `a` and one other letter. */
const endless = JSON.stringify({ type: 'string', pattern: '^(a+)+$' });
const trap = JSON.stringify(`${'a'.repeat(50)}!`);

test('a check that takes too long says that the reply cannot be checked, and the next check works', async () => {
  const { signal } = new AbortController();
  const check = await SchemaCheck.open(
    endless,
    'a.json',
    new CheckingThread(signal, { milliseconds: 300, thread }),
  );
  expect(await check.judge(trap)).toMatchObject({
    kind: 'mismatch',
    faults: [{ place: '', reason: 'it cannot be checked: it takes longer than 0.3 s' }],
  });
  expect(await check.judge('"aaa"')).toEqual({ kind: 'match', json: '"aaa"' });
});

test('a signal ends a check at once', async () => {
  const stop = new AbortController();
  const check = await SchemaCheck.open(
    endless,
    'a.json',
    new CheckingThread(stop.signal, { milliseconds: 60_000, thread }),
  );
  const judgement = check.judge(trap);
  setImmediate(() => stop.abort(new Error('enough')));
  await expect(judgement).rejects.toThrow('enough');
  await expect(check.judge('"a"')).rejects.toThrow('enough');
});

test('a schema that cannot be used is refused with its place', async () => {
  const { signal } = new AbortController();
  const opening = SchemaCheck.open(
    '{"items":{"x":1}}',
    'a.json',
    new CheckingThread(signal, { milliseconds: 30_000, thread }),
  );
  expect(await failureOf(opening)).toMatchObject({
    code: 'USAGE',
    message: 'The schema a.json cannot be used at /items/x: is not a keyword of JSON Schema 2020-12.',
    details: [{ field: '/items/x', problem: 'is not a keyword of JSON Schema 2020-12' }],
  });
});
