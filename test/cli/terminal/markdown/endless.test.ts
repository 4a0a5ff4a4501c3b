// A reply of any shape is rendered in linear time and does not block the event loop. The long form is endless.long.ts.
import { describe, expect, test } from 'vitest';
import { endlessTexts, prose } from './endless-texts.ts';
import { stringTerminal, writerTo } from './rendering.ts';
import { costOf, minCostOf } from './rendering-cost.ts';

describe('a reply in one chunk', () => {
  const length = 20_000;

  test.each(['"["', '"a"', 'a table of narrow rows', 'a comment that stays open'])(
    'yields to the event loop every 4,608 characters: %s',
    async (name) => {
      const text = endlessTexts[name]?.(length) ?? '';
      const { turns } = await costOf(text);
      expect(text.length).toBeGreaterThanOrEqual(length);
      expect(turns).toBeGreaterThanOrEqual(Math.floor(length / 4608));
    },
  );

  test('that is slow to render yields to the event loop every 32 ms, however few its characters', async () => {
    const { total, turns } = await costOf('*a '.repeat(length / 4));
    expect(turns).toBeGreaterThan(total / 32);
  });

  test('is not rendered further after a stop', async () => {
    const terminal = stringTerminal();
    const stop = new AbortController();
    const writer = writerTo(terminal, stop);
    setImmediate(() => stop.abort(new Error('Ctrl-C')));
    await expect(writer.write('['.repeat(400_000))).rejects.toThrow('Ctrl-C');
    await writer.endLine();
    expect(terminal.text().length).toBeLessThan(20_000);
    expect(terminal.text()).toMatch(/\[\n$/);
  });

  test('in many chunks yields to the event loop as well', async () => {
    expect((await costOf(prose(length), 4)).turns).toBeGreaterThanOrEqual(Math.floor(length / 4608));
  });
});

describe('the time to render', () => {
  test('a comment of code is that of the same lines outside of a comment', async () => {
    const lines = 'let a = 1;\n'.repeat(1_200);
    const outside = await minCostOf(`\`\`\`js\n${lines}`);
    expect(await minCostOf(`\`\`\`js\n/*\n${lines}`)).toBeLessThan(3 * outside);
  });

  test('space in a heading is that of prose, for any chunks', async () => {
    const floor = await minCostOf(prose(16_000), 4);
    expect(await minCostOf(`# a${' '.repeat(16_000)}b`, 4)).toBeLessThan(8 * floor);
  });

  test('each shape is at most 200 times that of prose', async () => {
    const length = 1_000;
    const floor = await minCostOf(prose(length));
    for (const [name, endless] of Object.entries(endlessTexts)) {
      const text = endless(length);
      // A table has a head of its own length.
      const limit = 200 * floor * (text.length / length);
      let cost = (await costOf(text)).total;
      if (cost > limit) cost = await minCostOf(text);
      expect(cost, name).toBeLessThan(limit);
    }
  });
});
