// What ELIZA remembers of a session: memories as in 1966, and facts.
import { describe, expect, test } from 'vitest';
import type { Script } from '../../../../src/engine/offline/eliza/script.ts';
import { talk } from './talk.ts';

describe('memory', () => {
  const script: Partial<Script> = {
    keywords: { my: { rank: 2, rules: [['0', 'Noted.']] }, top: { rank: 9, rules: [['0', 'Top.']] } },
    memory: {
      keyword: 'my',
      extracts: [
        ['0 your 1', 'Your 3?'],
        ['0 your 0', 'Earlier: your 3.'],
      ],
    },
    reflection: { my: 'your' },
  };

  test('a message with the memory keyword is used again at the fourth count, if no keyword is found', () => {
    // The counter is 1 before the first message, so it is 4 for the third.
    expect(talk(script, 'my old dog', 'x', 'x', 'x')).toEqual([
      'Noted.',
      'Go on.',
      'Earlier: your old dog.',
      'Go on.',
    ]);
  });

  test('the counter runs from one to four', () => {
    const replies = talk(
      script,
      'my old dog',
      'my new cat',
      'my third pet',
      'x',
      'x',
      'x',
      'x',
      'x',
      'x',
      'x',
      'x',
    );
    expect(replies.slice(3)).toEqual([
      ...['Go on.', 'Go on.', 'Go on.', 'Earlier: your old dog.'],
      ...['Go on.', 'Go on.', 'Go on.', 'Earlier: your new cat.'],
    ]);
  });

  test('a keyword at the fourth count leaves the memory for later', () => {
    const replies = talk(script, 'my old dog', 'x', 'top', 'x', 'x', 'x', 'x');
    expect(replies[2]).toBe('Top.');
    expect(replies[6]).toBe('Earlier: your old dog.');
  });

  test('the extracts take turns, and one that does not match is skipped', () => {
    const replies = talk(script, 'my dog', 'my cat', 'x', 'my big bird', 'x', 'x', 'x', 'x', 'x', 'x', 'x');
    expect([replies[2], replies[6], replies[10]]).toEqual([
      'Your dog?',
      'Earlier: your cat.',
      'Earlier: your big bird.',
    ]);
  });

  test('a message in which another keyword ranks higher is not remembered', () => {
    expect(talk(script, 'my top dog', 'x', 'x')).toEqual(['Top.', 'Go on.', 'Go on.']);
  });
});

describe('facts', () => {
  const script: Partial<Script> = {
    keywords: {
      who: {
        rules: [
          ['0', 'You are {name}.', 'Still {name}.', '(unless name) Tell me.', '(unless name) I wonder.'],
        ],
      },
      where: {
        rules: [
          ['0', '{name} of {place}.'],
          ['0', 'Who knows.'],
        ],
      },
    },
    facts: {
      name: [
        ['0 name is (*not unknown) 0', ''],
        ['0 name is 1 0', '4'],
      ],
      place: [['0 live in 0', '4']],
    },
  };

  test('a fact is known from then on, in the spelling of the user', () => {
    expect(talk(script, 'who', 'my name is McAda', 'who', 'who', 'who')).toEqual([
      ...['Tell me.', 'Go on.', 'You are McAda.', 'Still McAda.', 'You are McAda.'],
    ]);
  });

  test('a fact is noted in every clause, also in those that get no reply', () => {
    expect(talk(script, 'who, by the way, my name is Ada', 'who')).toEqual(['You are Ada.', 'Still Ada.']);
  });

  test('a later fact replaces an earlier one, and an empty extract notes nothing', () => {
    expect(talk(script, 'my name is Ada', 'my name is Bob', 'my name is not Eve', 'who').at(-1)).toBe(
      'You are Bob.',
    );
  });

  test('a rule with an unknown fact is skipped until all its facts are known', () => {
    expect(talk(script, 'where', 'my name is Ada', 'where', 'I live in New York', 'where')).toEqual([
      ...['Who knows.', 'Go on.', 'Who knows.', 'Go on.', 'Ada of New York.'],
    ]);
  });
});
