// The engine that returns the message as it is.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EchoEngine } from '../../../src/engine/offline/echo.ts';
import { runs } from '../../support/runs.ts';
import { collectEvents, collectReply, describeEngine } from '../engine-suite.ts';

describeEngine('echo', () => new EchoEngine());

describe('echo', () => {
  const engine = new EchoEngine();

  test('every text comes back byte for byte', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 3000 });
    await fc.assert(
      fc.asyncProperty(texts, async (message) => {
        expect(await collectReply(engine, { history: [], message })).toBe(message);
      }),
      { numRuns: runs(20, 300) },
    );
  });

  test('a surrogate pair is never split, wherever the chunks end', async () => {
    for (const lead of ['', 'a', 'ab']) {
      const message = lead + '🎉'.repeat(3000);
      const events = await collectEvents(engine, { history: [], message });
      const chunks = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
      expect(chunks.length).toBeGreaterThan(1);
      expect(chunks.join('')).toBe(message);
      for (const chunk of chunks) expect(Buffer.from(chunk).toString()).toBe(chunk);
    }
  });

  test('the reply ends with stop and counts no tokens', async () => {
    const events = await collectEvents(engine, { history: [], message: 'a\r\nb' });
    expect(events).toEqual([
      { type: 'text', text: 'a\r\nb' },
      { type: 'finish', reason: 'stop', usage: null },
    ]);
  });

  test('it reads no history', () => {
    expect(engine.historyMessages).toBe(0);
  });
});
