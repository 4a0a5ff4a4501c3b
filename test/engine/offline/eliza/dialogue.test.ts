// How ELIZA chooses a reply: each mechanism alone, with a script that contains nothing else.
import { describe, expect, test } from 'vitest';
import type { Script } from '../../../../src/engine/offline/eliza/script.ts';
import { talk } from './talk.ts';

describe('keywords', () => {
  const keywords: Script['keywords'] = {
    low: { rules: [['0', 'Low.']] },
    other: { rules: [['0', 'Other.']] },
    high: { rank: 5, rules: [['0', 'High.']] },
    highest: { rank: 9, rules: [['0', 'Highest.']] },
    alias: '=high',
  };

  test('the keyword of the highest rank replies, wherever it is', () => {
    expect(talk({ keywords }, 'low high', 'high low', 'high highest low')).toEqual([
      'High.',
      'High.',
      'Highest.',
    ]);
  });

  test('of equal ranks the first in the clause replies', () => {
    expect(talk({ keywords }, 'low other', 'other low')).toEqual(['Low.', 'Other.']);
  });

  test('a keyword is found in any case and within punctuation', () => {
    expect(talk({ keywords }, 'HIGH', '“High!”', '(high)')).toEqual(['High.', 'High.', 'High.']);
  });

  test('a keyword inside a longer word is ignored', () => {
    expect(talk({ keywords }, 'higher highway')).toEqual(['Go on.']);
  });

  test('a word that is another keyword has its rules and its rank', () => {
    expect(talk({ keywords }, 'low alias')).toEqual(['High.']);
  });

  test('a word that JavaScript objects have as a property is not a keyword', () => {
    expect(talk({ keywords }, 'constructor __proto__ toString')).toEqual(['Go on.']);
  });
});

describe('the keyword stack', () => {
  const newkey = (rank: number) => ({ rank, rules: [['0', '(newkey)']] as const });
  const says = (rank: number, text: string) => ({ rank, rules: [['0', text]] as const });

  test('newkey continues with the keyword below', () => {
    const keywords = { skip: newkey(9), answer: says(1, 'Answer.') };
    expect(talk({ keywords }, 'answer skip')).toEqual(['Answer.']);
  });

  test('one that outranks all before it lies on top, any other at the bottom in the order of the text', () => {
    // a (1), then c (3) on top: c a; b (2) does not outrank c and goes to the bottom: c a b.
    const keywords = { a: newkey(1), b: says(2, 'B.'), c: newkey(3) };
    expect(talk({ keywords }, 'a c b')).toEqual(['B.']);
    expect(talk({ keywords: { ...keywords, a: says(1, 'A.') } }, 'a c b')).toEqual(['A.']);
  });

  test('a keyword without a matching pattern is followed by the next', () => {
    const keywords = {
      strict: { rank: 9, rules: [['strict alone', 'Strict.']] as const },
      easy: says(0, 'Easy.'),
    };
    expect(talk({ keywords }, 'easy strict')).toEqual(['Easy.']);
  });

  test('when no keyword is left, the reply is that of none', () => {
    expect(talk({ keywords: { skip: newkey(0) } }, 'skip')).toEqual(['Go on.']);
  });
});

describe('the cut at a delimiter', () => {
  const keywords: Script['keywords'] = {
    one: { rules: [['0 one 0', 'Before: 1. After: 3.']] },
    two: { rank: 9, rules: [['0', 'Two.']] },
  };

  test('the text after the clause of the first keyword is dropped, even a higher keyword', () => {
    for (const message of [
      'a one b, two',
      'a one b. two',
      'a one b but two',
      'a one b; two',
      'a one b\ntwo',
      'a one b。two',
    ]) {
      expect(talk({ keywords }, message)).toEqual(['Before: a. After: b.']);
    }
  });

  test('the text before the clause of the first keyword is dropped', () => {
    expect(talk({ keywords }, 'x y, z. a one b')).toEqual(['Before: a. After: b.']);
  });

  test('a full stop or a comma inside a word cuts nothing', () => {
    expect(talk({ keywords }, 'node.js 1,000 one .gitignore 3.14')).toEqual([
      'Before: node.js 1,000. After: .gitignore 3.14.',
    ]);
  });
});

describe('links', () => {
  test('a link continues with the rules of another keyword on the same clause', () => {
    const keywords: Script['keywords'] = {
      how: { rules: [['0', '=what']] },
      what: { rules: [['0 how 0', 'What of 3?']] },
    };
    expect(talk({ keywords }, 'and how now')).toEqual(['What of now?']);
  });

  test('pre transforms the clause and continues with the result', () => {
    const keywords: Script['keywords'] = {
      why: { rules: [['why are you 0', '(pre you are so 4) =you']] },
      you: { rules: [['you are 1 0', 'Being 3 4?']] },
    };
    expect(talk({ keywords, reflection: { 'am i': 'are you' } }, 'why am I Sad')).toEqual(['Being so Sad?']);
  });

  test('a link may lead to a link', () => {
    const keywords: Script['keywords'] = {
      one: { rules: [['0', '=two']] },
      two: { rules: [['0', '=three']] },
      three: { rules: [['0', 'Three.']] },
    };
    expect(talk({ keywords }, 'one')).toEqual(['Three.']);
  });

  test('a loop of links ends with the reply of none', () => {
    const keywords: Script['keywords'] = { a: { rules: [['0', '=b']] }, b: { rules: [['0', '=a']] } };
    expect(talk({ keywords }, 'a')).toEqual(['Go on.']);
    expect(talk({ keywords: { a: '=b', b: '=a' } }, 'a')).toEqual(['Go on.']);
  });
});

describe('none', () => {
  test('a message without a keyword gets the replies of none in turn', () => {
    const none = ['0', 'First.', 'Second.'] as const;
    expect(talk({ none }, 'x', 'y', 'z')).toEqual(['First.', 'Second.', 'First.']);
  });

  test('a message without a word gets one too', () => {
    expect(talk({}, '', '  \n', '?!…', '\u0000\u001b')).toEqual(['Go on.', 'Go on.', 'Go on.', 'Go on.']);
  });
});
