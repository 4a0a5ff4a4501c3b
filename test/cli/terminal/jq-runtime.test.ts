// jq itself, in this thread: its results, and their limit.
import { expect, test } from 'vitest';
import { JqRuntime } from '../../../src/cli/terminal/jq-runtime.ts';

function newRuntime(limit: number) {
  let overflows = 0;
  const runtime = new JqRuntime(limit, () => {
    overflows += 1;
  });
  return { runtime, overflows: () => overflows };
}

test('a filter runs over each of the texts, also over more than one runtime can process', async () => {
  const { runtime, overflows } = newRuntime(1000);
  for (let run = 0; run < 70; run += 1) {
    expect(await runtime.run('.a', `{"a":${run}}\n{"a":"é"}`)).toEqual({
      output: `${run}\n"é"\n`,
      diagnostics: '',
      failed: false,
    });
  }
  expect(overflows()).toBe(0);
});

test('a filter whose output exceeds the limit reports it once, and later output is dropped', async () => {
  const { runtime, overflows } = newRuntime(1000);
  const { output } = await runtime.run('range(100000)', 'null');
  expect([overflows(), output.length]).toEqual([1, 1001]);
});

test.each([
  ['.a | nope', 'nope/0 is not defined'],
  ['', 'Top-level program not given'],
])('the filter %j is refused with the words of jq', async (filter, words) => {
  const { runtime } = newRuntime(1000);
  expect(await runtime.run(` ${filter}`, '')).toMatchObject({
    failed: true,
    diagnostics: expect.stringContaining(words),
  });
});
