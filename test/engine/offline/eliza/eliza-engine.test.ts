// The engine of the mode `eliza`: it has no state, so its context must come from the history alone.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { colleague } from '../../../../src/engine/offline/eliza/colleague.ts';
import { colleagueScript } from '../../../../src/engine/offline/eliza/colleague-script.ts';
import { ElizaEngine } from '../../../../src/engine/offline/eliza/eliza-engine.ts';
import type { ContextMessage } from '../../../../src/engine/reply-engine.ts';
import { runs } from '../../../support/runs.ts';
import { collectEvents, collectReply, describeEngine, textOf } from '../../engine-suite.ts';
import { goldenDialogues } from './golden-dialogues.ts';

const make = () => new ElizaEngine(async () => colleague());
const userMessage = (content: string): ContextMessage => ({ role: 'user', content, cut: false });
const replied = (content: string, cut = false): ContextMessage => ({ role: 'assistant', content, cut });

describeEngine('eliza', make);

describe('eliza', () => {
  for (const [name, turns] of Object.entries(goldenDialogues)) {
    test(`${name} has the same replies when each turn has an engine of its own`, async () => {
      const history: ContextMessage[] = [];
      for (const [message, reply] of turns) {
        expect(await collectReply(make(), { history, message })).toBe(reply);
        history.push(userMessage(message), replied(reply));
      }
    });
  }

  test('the earlier replies, complete or cut, have no effect', async () => {
    const message = 'What is my name?';
    const whole = {
      history: [userMessage('My name is Ada.'), replied('Pleased to meet you, Ada.')],
      message,
    };
    const cut = { history: [userMessage('My name is Ada.'), replied('', true)], message };
    expect(await collectReply(make(), cut)).toBe(await collectReply(make(), whole));
  });

  test('the reply comes word by word and ends with stop', async () => {
    const events = await collectEvents(make(), { history: [], message: 'Sorry' });
    expect(events).toEqual([
      ...['No', ' harm', ' done.', ' Go', ' on.'].map((text) => ({ type: 'text', text })),
      { type: 'finish', reason: 'stop', usage: null },
    ]);
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc
      .array(
        fc.constantFrom(
          ...Object.keys(colleagueScript.keywords),
          ',',
          '.',
          'not',
          'is',
          '0',
          '{name}',
          '🎉',
          '名前',
        ),
        {
          maxLength: 40,
        },
      )
      .map((words) => words.join(' ')),
  );

  test('every message gets a reply, which is the same for the same context', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 8 }), text, async (earlier, message) => {
        const context = { history: earlier.map(userMessage), message };
        const engine = make();
        const reply = await collectReply(engine, context);
        expect(reply).toMatch(/\S/);
        expect(reply).not.toMatch(/\(newkey\)|\(unless|\(pre |^=/);
        expect(await collectReply(engine, context)).toBe(reply);
        expect(await collectReply(make(), context)).toBe(reply);
      }),
      { numRuns: runs(80, 1_500) },
    );
  });

  test('no control character, half character or direction mark of a message is in a reply', async () => {
    const hostile = '\u0000\u0007\u001b[31m\u007f\u009b\r\u202e\u2066\ud83d\u2028';
    const marked = [...hostile].map((mark) => `my d${mark}og`).join(' and ');
    for (const message of [
      `My ${hostile} dog`,
      `I want ${hostile}`,
      `My name is ${hostile}Ada${hostile}`,
      marked,
    ]) {
      const reply = textOf(await collectEvents(make(), { history: [], message }));
      expect(reply).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
    }
  });

  test('a message of 1 MiB, whatever it repeats, gets a short reply', async () => {
    for (const word of ['my ', 'you ', 'i am ', 'a,', 'your name is ', 'x', '.', '🎉', '名', '"']) {
      const message = word.repeat(2 ** 20 / word.length);
      const history = Array.from({ length: 20 }, () => userMessage(message));
      const reply = await collectReply(make(), { history, message });
      expect(reply).toMatch(/\S/);
      expect(reply.length).toBeLessThan(3000);
    }
  });
});
