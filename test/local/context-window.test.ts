// Which messages of a session an engine gets: properties over sessions of every form, and the cost of reading them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextWindow, type ReadHistory } from '../../src/local/context-window.ts';
import type { Message } from '../../src/service/session.ts';
import { estimateTokens, messageTokens } from '../../src/service/token-estimate.ts';
import { runs } from '../support/runs.ts';

function sessionOf(turns: readonly (readonly [string, string])[]): readonly Message[] {
  return turns.flat().map((content, position) => ({
    message_id: `msg_${position}`,
    position,
    role: position % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content,
    mode: 'test',
    finish_reason: position % 2 === 0 ? null : ('stop' as const),
    usage: null,
    created_at: '2026-01-01T00:00:00.000Z',
  }));
}

/** A store of one session, which counts the reads. */
function readerOf(messages: readonly Message[]) {
  let count = 0;
  const read: ReadHistory = async (before, limit) => {
    const found = messages.slice(Math.max(0, before - limit), before);
    count += found.length;
    return found;
  };
  return { read, count: () => count };
}

const estimated = (text: string) => messageTokens(estimateTokens(text));
const all = { historyMessages: Number.MAX_SAFE_INTEGER };
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constant('word '.repeat(200)),
  fc.constant(''),
);
const turns = fc.array(fc.tuple(text, text), { maxLength: 60 });
const budget = fc.integer({ min: -50, max: 3000 });

describe('a context', () => {
  it('never exceeds its budget, contains complete turns in order, the newest and the first, and counts the rest', async () => {
    await fc.assert(
      fc.asyncProperty(turns, text, budget, async (pairs, message, contextTokens) => {
        const messages = sessionOf(pairs);
        const { read } = readerOf(messages);
        const window = await contextWindow(read, messages.length, message, { ...all, contextTokens });
        const { history, turnsLeftOut } = window;
        const tokens = history.reduce((sum, { content }) => sum + estimated(content), estimated(message));
        if (history.length > 0) expect(tokens).toBeLessThanOrEqual(contextTokens);
        expect(history.length % 2).toBe(0);
        expect(history.length / 2 + turnsLeftOut).toBe(pairs.length);

        // The newest messages in one read, back to one that does not fit; and the first turn before them if there is room.
        const plain = messages.map(({ role, content }) => ({ role, content, cut: false }));
        if (turnsLeftOut === 0) {
          expect(history).toEqual(plain);
          return;
        }
        const sizes = pairs.map(([question, answer]) => estimated(question) + estimated(answer));
        const room = contextTokens - estimated(message);
        const newestSize = sizes.at(-1) ?? 0;
        const hasFirst = pairs.length > 1 && (sizes[0] ?? 0) <= room - (newestSize <= room ? newestSize : 0);
        if (hasFirst) expect(history.slice(0, 2)).toEqual(plain.slice(0, 2));
        const newest = hasFirst ? history.slice(2) : history;
        expect(newest).toEqual(plain.slice(plain.length - newest.length));
        const next = sizes[pairs.length - newest.length / 2 - 1] ?? 0;
        expect(tokens + next).toBeGreaterThan(contextTokens);
      }),
      { numRuns: runs(80, 1_500) },
    );
  });

  it('puts unanswered messages before the next one, so that none is lost and the roles alternate', async () => {
    const failed = fc.constantFrom('answered', 'failed', 'interrupted', 'half');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, text, failed), { maxLength: 30 }),
        budget,
        async (pairs, contextTokens) => {
          // The messages are distinct, so that each can be found.
          const lines = pairs.map(([question], at) => `#${at} ${question}`);
          const plain = sessionOf(pairs.map(([, reply], at) => [lines[at] ?? '', reply] as const));
          const messages = plain.map((message, at): Message => {
            const how = at % 2 === 0 ? 'answered' : pairs[(at - 1) / 2]?.[2];
            if (how === 'answered') return message;
            const content = how === 'half' ? `Half ${message.content}` : '';
            return { ...message, content, finish_reason: how === 'interrupted' ? 'interrupted' : 'error' };
          });
          const windowOf = (all_: readonly Message[]) =>
            contextWindow(readerOf(all_).read, all_.length, '# now', { ...all, contextTokens });
          const { history, message, turnsLeftOut } = await windowOf(messages);
          // The same turns fit as if each had ended normally.
          const whole = await windowOf(messages.map((one) => ({ ...one, finish_reason: null })));
          expect(turnsLeftOut).toBe(whole.turnsLeftOut);

          const questions = [...history, { role: 'user', content: message, cut: false }];
          expect(questions.map(({ role }) => role)).toEqual(
            questions.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
          );
          const textsOf = (side: string, list: readonly { role: string; content: string }[]) =>
            list.filter(({ role }) => role === side).map(({ content }) => content);
          const before = [...textsOf('user', whole.history), '# now'];
          expect(textsOf('user', questions).join('\n\n')).toBe(before.join('\n\n'));
          expect(history.filter(({ cut, content }) => cut && content === '')).toEqual([]);
          const answers = messages.filter(
            ({ content, finish_reason }) => content !== '' || finish_reason === 'stop',
          );
          const texts = textsOf('assistant', history);
          expect(texts.length).toBeLessThanOrEqual(answers.length);
          expect(texts).toEqual(
            whole.history.flatMap(({ role, content }, at) => {
              const index = lines.indexOf(whole.history[at - 1]?.content ?? '');
              const how = pairs[index]?.[2];
              return role === 'assistant' && (how === 'answered' || how === 'half') ? [content] : [];
            }),
          );
          const tokens = questions.reduce((sum, { content }) => sum + estimated(content), 0);
          if (questions.length > 1 || message !== '# now') expect(tokens).toBeLessThanOrEqual(contextTokens);
        },
      ),
      { numRuns: runs(80, 1_500) },
    );
  });

  it('contains a message once that was repeated word by word after a failure', async () => {
    const messages = sessionOf([
      ['Hello', 'Hello.'],
      ['How are you?', ''],
      ['How are you?', ''],
    ]).map((message) => (message.content === '' ? { ...message, finish_reason: 'error' as const } : message));
    const windowOf = (message: string) =>
      contextWindow(readerOf(messages).read, 6, message, { ...all, contextTokens: 1000 });
    expect(await windowOf('How are you?')).toMatchObject({ message: 'How are you?', turnsLeftOut: 0 });
    expect((await windowOf('Well?')).message).toBe('How are you?\n\nWell?');
    expect((await windowOf('Well?')).history.map(({ content }) => content)).toEqual(['Hello', 'Hello.']);
  });

  it('ignores an implausibly low count of an engine', async () => {
    const pairs: (readonly [string, string])[] = Array.from({ length: 20 }, () => [
      'Go on.',
      'word '.repeat(200),
    ]);
    const messages = sessionOf(pairs).map((message) => ({
      ...message,
      usage: message.role === 'assistant' ? { input_tokens: 0, output_tokens: 0 } : null,
    }));
    const { read } = readerOf(messages);
    const { history } = await contextWindow(read, messages.length, 'On.', { ...all, contextTokens: 1500 });
    expect(history.length).toBeGreaterThan(0);
    expect(history.reduce((sum, { content }) => sum + estimated(content), 0)).toBeLessThanOrEqual(1500);
  });

  it('omits a first turn that is too long, but never the newest', async () => {
    const messages = sessionOf([
      ['a file of some length '.repeat(100), 'Read.'],
      ['My name is Ada.', 'Hello, Ada.'],
      ['I am ten.', 'Happy birthday.'],
    ]);
    const { read } = readerOf(messages);
    const { history, turnsLeftOut } = await contextWindow(read, 6, 'next', { ...all, contextTokens: 300 });
    expect(history.map(({ content }) => content)).toEqual(messages.slice(2).map(({ content }) => content));
    expect(turnsLeftOut).toBe(1);
  });

  it('uses the token count of an engine for a reply if it is lower than the estimate', async () => {
    const [user, reply] = sessionOf([['Hello', 'word '.repeat(100)]]) as [Message, Message];
    const counted = { ...reply, usage: { input_tokens: 9, output_tokens: 100 } };
    const contextTokens = estimated('next') + estimated('Hello') + messageTokens(100);
    const windowOf = (messages: readonly Message[]) =>
      contextWindow(readerOf(messages).read, 2, 'next', { ...all, contextTokens });
    expect((await windowOf([user, counted])).history).toHaveLength(2);
    expect((await windowOf([user, reply])).turnsLeftOut).toBe(1);
  });

  it('marks the replies that were cut', async () => {
    const [user, reply] = sessionOf([['Hello', 'Half']]) as [Message, Message];
    const { read } = readerOf([user, { ...reply, finish_reason: 'error' }]);
    const { history } = await contextWindow(read, 2, 'next', { ...all, contextTokens: 1000 });
    expect(history.map(({ cut }) => cut)).toEqual([false, true]);
  });

  it('ends before a turn of which a damaged store has only one message', async () => {
    const whole = sessionOf([
      ['One', '1'],
      ['Two', '2'],
      ['Three', '3'],
    ]);
    const damaged = whole.slice(3);
    const read: ReadHistory = async (before, limit) =>
      damaged.filter(({ position }) => position < before).slice(-limit);
    const { history } = await contextWindow(read, 6, 'next', { ...all, contextTokens: 1000 });
    expect(history.map(({ content }) => content)).toEqual(['Three', '3']);
  });

  it('needs as few reads for ten thousand messages as for some hundred', async () => {
    const counts = [];
    for (const length of [200, 5000]) {
      const { read, count } = readerOf(sessionOf(Array.from({ length }, () => ['a question', 'an answer'])));
      await contextWindow(read, length * 2, 'next', { ...all, contextTokens: 1000 });
      counts.push(count());
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[0]).toBeLessThan(400);
  });

  it('counts messages for an engine that counts no tokens', async () => {
    const messages = sessionOf(Array.from({ length: 10 }, (_, at) => [`q${at}`, `a${at}`] as const));
    const { read } = readerOf(messages);
    const { history, turnsLeftOut } = await contextWindow(read, 20, 'next', { historyMessages: 5 });
    expect(history.map(({ content }) => content)).toEqual(['q8', 'a8', 'q9', 'a9']);
    expect(turnsLeftOut).toBe(0);
  });
});
