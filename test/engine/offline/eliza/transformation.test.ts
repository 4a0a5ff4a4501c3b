// How ELIZA transforms a clause into a reply: each mechanism alone, with a script that contains nothing else.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinWords, readWords } from '../../../../src/engine/offline/eliza/clause.ts';
import { decompose, parsePattern } from '../../../../src/engine/offline/eliza/pattern.ts';
import { parseReassembly } from '../../../../src/engine/offline/eliza/reassembly.ts';
import type { Script } from '../../../../src/engine/offline/eliza/script.ts';
import { runs } from '../../../support/runs.ts';
import { talk } from './talk.ts';

describe('substitution and reflection', () => {
  const reflection = {
    i: 'you',
    my: 'your',
    am: 'are',
    'i am': 'you are',
    you: 'I',
    your: 'my',
    'you .': 'me',
  };
  const keywords: Script['keywords'] = {
    say: { rules: [['say 0', 'You say: 2.']] },
    cannot: { rules: [['0', 'Cannot: 1.']] },
  };
  const reflect = (message: string) =>
    talk({ keywords, reflection, spelling: { "i'm": 'I am', 'can not': 'cannot' } }, message)[0];

  test('I and you, my and your change places, once', () => {
    expect(reflect('say I took your hat and you took My coat')).toBe(
      'You say: you took my hat and I took your coat.',
    );
  });

  test('the longest phrase counts', () => {
    expect(reflect('say I am old')).toBe('You say: you are old.');
    expect(reflect('say what am I')).toBe('You say: what are you.');
  });

  test('a phrase may be bound to the end of its clause', () => {
    expect(reflect('say I see you')).toBe('You say: you see me.');
    expect(reflect('say you see, he said')).toBe('You say: I see.');
  });

  test('spellings are replaced before keywords are looked for, and a typographic apostrophe is one', () => {
    expect(reflect('say I’m old')).toBe('You say: you are old.');
    expect(reflect('I can not')).toBe('Cannot: you cannot.');
  });
});

describe('decomposition', () => {
  const equivalents: Readonly<Record<string, string>> = {
    '0': '(?:\\w )*?',
    '1': '\\w ',
    '2': '\\w \\w ',
    '(*a b)': '[ab] ',
  };

  const parts = (pattern: string, message: string, script: Partial<Script> = {}) =>
    talk({ ...script, keywords: { key: { rules: [[pattern, '[1][2][3][4][5]']] } } }, message)[0];

  test('0 matches any number of words, including none', () => {
    expect(parts('0 key 0', 'key')).toBe('[][key][][][]');
    expect(parts('0 key 0', 'a b key c')).toBe('[a b][key][c][][]');
  });

  test('0 matches as few words as possible', () => {
    expect(parts('0 key 0', 'a key b key c')).toBe('[a][key][b key c][][]');
    expect(parts('0 key 0 c', 'a key c b key c')).toBe('[a][key][c b key][c][]');
  });

  test('a number matches exactly that many words', () => {
    expect(parts('key 2 0', 'key a b c')).toBe('[key][a b][c][][]');
    expect(parts('key 2', 'key a')).toBe('Go on.');
    expect(parts('key 2', 'key a b c')).toBe('Go on.');
  });

  test('a word matches only itself', () => {
    expect(parts('0 key then 0', 'so key then what')).toBe('[so][key][then][what][]');
    expect(parts('0 key then 0', 'so key what')).toBe('Go on.');
  });

  test('alternatives match one of their words', () => {
    expect(parts('0 (*sad glad) key', 'a glad key')).toBe('[a][glad][key][][]');
    expect(parts('0 (*sad glad) key', 'a mad key')).toBe('Go on.');
  });

  test('a class matches a word with its tag, and one element may name several classes', () => {
    const classes = { family: 'mother father', pet: 'dog cat' };
    expect(parts('0 key 0 (/family) 0', 'key my old Father here', { classes })).toBe(
      '[][key][my old][Father][here]',
    );
    expect(parts('0 key 0 (/family) 0', 'key my dog', { classes })).toBe('Go on.');
    expect(parts('0 key 0 (/family pet) 0', 'key my dog', { classes })).toBe('[][key][my][dog][]');
  });

  test('any pattern splits any clause as the same regular expression does', () => {
    const elements = fc.array(fc.constantFrom('0', '0', '1', '2', 'a', 'b', '(*a b)'), {
      minLength: 1,
      maxLength: 7,
    });
    const clauses = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 });
    fc.assert(
      fc.property(elements, clauses, (pattern, words) => {
        const expression = pattern.map((element) => `(${equivalents[element] ?? `${element} `})`).join('');
        const expected = new RegExp(`^${expression}$`).exec(words.map((word) => `${word} `).join(''));
        const found = decompose(parsePattern(pattern.join(' '), {}), readWords(words.join(' ')));
        expect(found?.map(joinWords) ?? null).toEqual(expected?.slice(1).map((text) => text.trim()) ?? null);
      }),
      { numRuns: runs(500, 10_000) },
    );
  });

  test('a pattern of many wildcards gives up on a clause of one word repeated', () => {
    expect(parts(`0 key ${'0 a '.repeat(6)}b`, `key ${'a '.repeat(120)}`)).toBe('Go on.');
  });

  test('an invalid pattern and a missing class are refused', () => {
    expect(() => parsePattern('0 (*a b', {})).toThrow('cannot be read');
    expect(() => parsePattern('0 (/family)', {})).toThrow('no word class “family”');
    expect(() => parseReassembly('(what) now')).toThrow('cannot be read');
  });

  test('the first rule whose pattern matches is used', () => {
    const keywords: Script['keywords'] = {
      key: {
        rules: [
          ['0 x 0', 'X.'],
          ['0 y 0', 'Y.'],
          ['0', 'Any.'],
        ],
      },
    };
    expect(talk({ keywords }, 'key y x', 'key y', 'key')).toEqual(['X.', 'Y.', 'Any.']);
  });

  test('words keep the spelling of the user', () => {
    expect(parts('key 0', 'key McCOY’s iPhone')).toBe('[key][McCOY’s iPhone][][][]');
  });
});

describe('reassembly', () => {
  test('the reassemblies of a pattern take turns, each pattern for itself', () => {
    const keywords: Script['keywords'] = {
      key: {
        rules: [
          ['0 x 0', 'X1.', 'X2.'],
          ['0', 'A1.', 'A2.', 'A3.'],
        ],
      },
    };
    expect(talk({ keywords }, 'key', 'key x', 'key', 'key x', 'key', 'key x', 'key')).toEqual([
      ...['A1.', 'X1.', 'A2.', 'X2.', 'A3.', 'X1.', 'A1.'],
    ]);
  });

  test('the space before an element without words is removed with it', () => {
    const keywords: Script['keywords'] = { key: { rules: [['0 key 0', 'Why 3, and 1?']] } };
    expect(talk({ keywords }, 'key', 'a key b')).toEqual(['Why, and?', 'Why b, and a?']);
  });

  test('words of the user that look like notation are not changed', () => {
    const keywords: Script['keywords'] = { key: { rules: [['key 0', 'So 2.']] } };
    expect(talk({ keywords, facts: { name: [] } }, 'key 1 {name} =key a$&b (newkey')).toEqual([
      'So 1 name =key a$&b newkey.',
    ]);
  });
});
