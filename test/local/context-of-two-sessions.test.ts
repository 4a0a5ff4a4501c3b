// An engine gets only the messages of its session: a property over two sessions of one project whose turns run in any order, in a real store.
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { EngineContext, ReplyEngine } from '../../src/engine/reply-engine.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { estimateTokens, messageTokens } from '../../src/service/token-estimate.ts';
import { callWith, collect } from '../support/calls.ts';
import { finish, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { runs } from '../support/runs.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let backend: EmbeddedBackend;
let key: string;
let given: EngineContext[];
let contextTokens: number;

/** Repeats its message, so that the texts of each session are in its replies as well. */
const engines: EngineSet = {
  modes: [{ name: 'test', description: '', engine: 'test', model: null, default: true }],
  engine: (): ReplyEngine => ({
    name: 'test',
    historyMessages: Number.MAX_SAFE_INTEGER,
    contextTokens,
    async *reply(context) {
      given.push(context);
      yield { type: 'text', text: `You said: ${context.message}` };
      yield finish;
    },
  }),
};

beforeEach(async () => {
  directory = await temporaryDirectory();
  backend = await openEmbedded(directory.path, { engines });
  key = await newKey(backend, 'project');
});
afterEach(async () => {
  await backend.close();
  await directory.remove();
});

const sides = ['left', 'right'] as const;
const turn = fc.record({ side: fc.constantFrom(...sides), words: fc.integer({ min: 0, max: 60 }) });
const size = ({ message, history }: EngineContext) =>
  [message, ...history.map(({ content }) => content)].reduce(
    (sum, text) => sum + messageTokens(estimateTokens(text)),
    0,
  );

it('a context contains no text of another session, and the newest messages of its own, for any order of turns and any budget', async () => {
  const budgets = fc.integer({ min: 0, max: 1000 });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 24 }), budgets, async (turns, budget) => {
      given = [];
      contextTokens = budget;
      const sessions: Partial<Record<(typeof sides)[number], string>> = {};
      const texts: Record<(typeof sides)[number], string[]> = { left: [], right: [] };
      for (const [number, { side, words }] of turns.entries()) {
        const message = `${side}${number} ${`${side} `.repeat(words)}`.trim();
        const request = { mode: 'test', message, session_id: sessions[side] ?? null };
        const events = await collect(backend.service.chat(callWith(key), request, 'chunks'));
        if (events[0]?.event === 'session') sessions[side] = events[0].data.session_id;

        const context = given.at(-1) as EngineContext;
        expect(given).toHaveLength(number + 1);
        expect(context.message).toBe(message);
        const other = side === 'left' ? 'right' : 'left';
        expect(JSON.stringify(context)).not.toContain(other);
        const history = context.history.map(({ content }) => content);
        const own = texts[side].flatMap((text) => [text, `You said: ${text}`]);
        expect(history).toEqual(own.filter((text) => history.includes(text)));
        if (history.length > 0) expect(size(context)).toBeLessThanOrEqual(budget);
        if (history.length > 2) expect(history.slice(-2)).toEqual(own.slice(-2));
        texts[side].push(message);
      }
      expect(new Set(Object.values(sessions)).size).toBe(new Set(turns.map(({ side }) => side)).size);
    }),
    { numRuns: runs(8, 200) },
  );
});
