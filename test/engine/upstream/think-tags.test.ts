// Reasoning in `<think>…</think>` before a reply: separated completely, for any chunks, and no text is lost.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type SplitText, ThinkTags } from '../../../src/engine/upstream/think-tags.ts';
import type { ModeSettings } from '../../../src/service/mode-settings.ts';
import { replyOf, sendStream } from '../../support/model-server.ts';
import { runs } from '../../support/runs.ts';
import { type StubScript, UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents, textOf } from '../engine-suite.ts';

type How = ModeSettings['think_tags'];

function split(chunks: readonly string[], how: How = 'split'): SplitText {
  const tags = new ThinkTags(how);
  const parts = [...chunks.map((chunk) => tags.take(chunk)), tags.rest()];
  return {
    reasoning: parts.map(({ reasoning }) => reasoning).join(''),
    text: parts.map(({ text }) => text).join(''),
  };
}

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r\n', '\t'), maxLength: 4 });
const words = fc.string({
  unit: fc.constantFrom(
    '<think>',
    '</think>',
    '<thinking>',
    '</thinking>',
    '<',
    '</',
    'th',
    'think',
    '>',
    ' ',
    '\n',
    'Hi',
    '👩🏽‍💻',
  ),
  maxLength: 12,
});
const hows = fc.constantFrom<How>('split', 'open', 'keep');

/** The text in chunks, cut at these places. */
function cutAt(text: string, places: readonly number[]): readonly string[] {
  const cuts = [...places.map((place) => place % (text.length + 1)), 0, text.length];
  cuts.sort((one, other) => one - other);
  return cuts.slice(1).map((cut, index) => text.slice(cuts[index], cut));
}

describe('reasoning before a reply', () => {
  it.each([
    ['<think>Greet.</think>Hello', 'Greet.', 'Hello'],
    ['\n <think>\nGreet.\n</think>\n\nHello\n', 'Greet.\n', 'Hello\n'],
    ['<thinking>Is </think> a tag?</thinking> Yes', 'Is </think> a tag?', 'Yes'],
    ['<think>\n\n</think>\n\nHello', '', 'Hello'],
    ['<think></think>Hello', '', 'Hello'],
    ['<think>a < b, </ and </th</think>So', 'a < b, </ and </th', 'So'],
    ['<think>One</think>Two <think>three</think>', 'One', 'Two <think>three</think>'],
  ])('in %j are %j, and the reply is %j', (content, reasoning, text) => {
    expect(split([content])).toEqual({ reasoning, text });
    expect(split([...content])).toEqual({ reasoning, text });
  });

  it.each(['<think>Greet', '<think>Greet</thi', '<think>Greet </think>', '<think>Greet</thinking>'])(
    'without a following reply (%j) is no reply',
    (content) => {
      expect(split([content]).text).toBe('');
      expect(split([...content])).toEqual(split([content]));
      expect(split([content]).reasoning).toMatch(/^Greet/);
    },
  );

  it.each([
    '<th',
    '<',
    '<think',
    '<thinker>Hi',
    '<b>Hi</b>',
    'Say <think>Hi</think>',
    ' \n Hi',
    'a</think>\nb',
    '',
  ])('is not in %j, which is completely the reply', (content) => {
    expect(split([content])).toEqual({ reasoning: '', text: content });
    expect(split([...content])).toEqual({ reasoning: '', text: content });
  });

  it('whose opening tag is missing is all text before the closing one', () => {
    expect(split(['Greet.\n</think>\n\nHello'], 'open')).toEqual({ reasoning: 'Greet.\n', text: 'Hello' });
    expect(split(['<think>Greet.</think>Hello'], 'open')).toEqual({ reasoning: 'Greet.', text: 'Hello' });
    expect(split(['Greet'], 'open')).toEqual({ reasoning: 'Greet', text: '' });
  });

  it('stays in the reply of a mode that keeps it', () => {
    const content = ' <think>Greet.</think> Hello';
    expect(split([...content], 'keep')).toEqual({ reasoning: '', text: content });
  });

  it('is not searched for after the server has sent reasoning separately', () => {
    const tags = new ThinkTags('split');
    tags.stopSeparating();
    expect(tags.take('<think>is a tag')).toEqual({ reasoning: '', text: '<think>is a tag' });
  });

  it('is the same for any chunks', () => {
    const content = fc.tuple(space, words, words).map((parts) => parts.join(''));
    fc.assert(
      fc.property(content, hows, fc.array(fc.nat(), { maxLength: 8 }), (text, how, places) => {
        expect(split(cutAt(text, places), how)).toEqual(split([text], how));
      }),
      { numRuns: runs(400, 10_000) },
    );
  });

  it('and the reply are together the complete text, except for the tags and the white space around them', () => {
    const bare = (text: string) => text.replace(/\s+/g, '');
    const notes = words.filter((text) => !text.includes('</think>'));
    fc.assert(
      fc.property(space, notes, space, words, (before, reasoning, after, reply) => {
        const parts = split([`${before}<think>${reasoning}</think>${after}${reply}`]);
        expect(parts).toEqual({ reasoning: reasoning.trimStart(), text: reply.trimStart() });
      }),
    );
    fc.assert(
      fc.property(words, hows, (text, how) => {
        const { reasoning, text: reply } = split([text], how);
        const both = bare(reasoning) + bare(reply);
        const tags = bare(text).length - both.length;
        expect(
          ['', '<think>', '<thinking>', '</think>', '<think></think>', '<thinking></thinking>'].map(
            ({ length }) => length,
          ),
        ).toContain(tags);
        if (tags === 0) expect(both).toBe(bare(text));
      }),
      { numRuns: runs(200, 5_000) },
    );
  });

  it('is not awaited through endless white space', () => {
    const tags = new ThinkTags('split');
    let text = '';
    for (let count = 0; count < 1001; count += 1) text += tags.take('\n').text;
    expect(text).toHaveLength(1001);
    expect(split(['\n'.repeat(1001), '<think>'])).toEqual(split([`${'\n'.repeat(1001)}<think>`]));
  });
});

describe('a stream', () => {
  const stubs = new UpstreamStubs();
  afterEach(() => stubs.close());

  it.each([
    ['split', '<think>\nThey greet me.</think>\n\nHi!', 'They greet me.', 'Hi!'],
    ['open', 'They greet me.</think>\n\nHi!', 'They greet me.', 'Hi!'],
    ['keep', '<think>Hm</think>Hi!', '', '<think>Hm</think>Hi!'],
  ] as const)(
    'in a mode that is to %s tags takes notes out of %j',
    async (think_tags, content, notes, reply) => {
      const script: StubScript = (response) => sendStream(response, replyOf(...content));
      const { engine } = await stubs.engineOver(script, { think_tags });
      const events = await collectEvents(engine, { history: [], message: 'Hello' });
      expect(textOf(events)).toBe(reply);
      expect(events.map((event) => (event.type === 'reasoning' ? event.text : '')).join('')).toBe(notes);
      expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
    },
  );
});
