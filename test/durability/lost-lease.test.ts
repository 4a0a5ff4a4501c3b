// Processes that lose their turn: one that is suspended for longer than its lease, and several with one key. A reply that was reported as
// done is stored, once. `scripts/paused-process.js` does the first with the usual lease of 15 s.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callWith } from '../support/calls.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { bundleChattingProcess, chatIn, faultsOf, runPausedProcess } from '../support/paused-process.ts';

let place: Awaited<ReturnType<typeof temporaryDirectory>>;
let script: string;
beforeAll(async () => {
  place = await temporaryDirectory();
  mkdirSync(join(place.path, 'process'));
  script = await bundleChattingProcess(join(place.path, 'process'));
});
afterAll(() => place.remove());

test.each([true, false])('a suspended process learns that its turn was taken (key: %s)', async (withKey) => {
  const directory = join(place.path, `data-${withKey}`);
  const report = await runPausedProcess(script, { directory, turnLeaseMs: 400, stopMs: 700, withKey });
  expect(faultsOf(report)).toEqual([]);
  const stored = report.stored.map(({ content, finish_reason }) => `${finish_reason}: ${content}`);
  if (withKey) expect(stored).toEqual(['user: hello', 'stop: of the other']);
  else {
    expect(stored).toEqual([
      ...['user: hello', expect.stringMatching(/^interrupted: 0 (\d+ )*$/)],
      ...['user: next', 'stop: of the other'],
    ]);
  }
});

test('three processes with one key answer with one reply, although the first one is killed', async () => {
  const directory = join(place.path, 'three');
  const backend = await openEmbedded(directory);
  const apiKey = await newKey(backend, 'project');
  const chatting = {
    ...{ directory, apiKey, session: null, message: 'hello', key: 'k' },
    ...{ turnLeaseMs: 300, turnWaitMs: 10_000, chunks: ['one ', 'two'], everyMs: 100 },
  };
  const all = Array.from({ length: 3 }, () => chatIn(script, chatting));
  const first = await Promise.race(
    all.map(async (one) => {
      await new Promise((resolve) => one.child.once('message', resolve));
      return one;
    }),
  );
  first.child.kill('SIGKILL');
  const others = all.filter((one) => one !== first);
  await Promise.all(others.map(({ ended }) => ended));
  const dones = others.map(({ reports }) => reports.at(-1));
  expect(dones[0]).toMatchObject({ kind: 'done', reply: 'one two' });
  expect(dones[1]).toEqual(dones[0]);
  const page = { limit: 200, cursor: null };
  const session = dones[0]?.kind === 'done' ? dones[0].session_id : '';
  const { items } = (await backend.archive.listMessages(callWith(apiKey), session, page)).data;
  expect(items.map(({ content }) => content)).toEqual(['hello', 'one two']);
  await backend.close();
});
