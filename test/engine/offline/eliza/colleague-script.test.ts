// The script of the mode `eliza` is consistent: each name in it exists, and each rule can be reached; and its replies.
import { describe, expect, test } from 'vitest';
import { readWords } from '../../../../src/engine/offline/eliza/clause.ts';
import { colleagueScript } from '../../../../src/engine/offline/eliza/colleague-script.ts';
import { Dialogue } from '../../../../src/engine/offline/eliza/dialogue.ts';
import { decompose, type Element, parsePattern } from '../../../../src/engine/offline/eliza/pattern.ts';
import {
  factsIn,
  parseReassembly,
  type Reassembly,
} from '../../../../src/engine/offline/eliza/reassembly.ts';
import type { Extract, Rule } from '../../../../src/engine/offline/eliza/script.ts';
import { Substitution } from '../../../../src/engine/offline/eliza/substitution.ts';
import { goldenDialogues } from './golden-dialogues.ts';

const { keywords, none, memory, facts, classes, spelling, reflection } = colleagueScript;
const ruleLists = Object.entries(keywords).flatMap(([key, keyword]) =>
  typeof keyword === 'string' ? [] : [{ key, rules: keyword.rules }],
);
const rules: readonly Rule[] = [...ruleLists.flatMap((list) => list.rules), none];
const extractLists: readonly (readonly Extract[])[] = [memory.extracts, ...Object.values(facts)];
const parse = (pattern: string) => parsePattern(pattern, classes);
const reassemblies = rules.flatMap(([pattern, ...sources]) =>
  sources.map((source) => ({ pattern, source, reassembly: parseReassembly(source) })),
);

/** A clause that matches the pattern and as few others as possible. */
function witness(elements: readonly Element[], choice: number) {
  return elements.flatMap((element) => {
    if (element.kind === 'any') return readWords('qwx');
    if (element.kind === 'count') return readWords('qwx '.repeat(element.count));
    const keys = [...element.keys];
    return readWords(keys[choice % keys.length] ?? '');
  });
}

function firstFit(patterns: readonly string[], clause: ReturnType<typeof witness>): number {
  return patterns.findIndex((pattern) => decompose(parse(pattern), clause) !== null);
}

function indices(text: string): readonly number[] {
  return [...text.matchAll(/\b\d+\b/g)].map(([digits]) => Number(digits));
}

function textIn(reassembly: Reassembly): string {
  return reassembly.kind === 'newkey' ? '' : (reassembly.text ?? '');
}

describe('the script', () => {
  test('it has forty keywords with rules, or more', () => {
    expect(ruleLists.length).toBeGreaterThanOrEqual(40);
  });

  test('every link leads to a keyword with rules', () => {
    const known = new Set(ruleLists.map(({ key }) => key));
    const links = [
      ...Object.values(keywords).flatMap((keyword) =>
        typeof keyword === 'string' ? [keyword.slice(1)] : [],
      ),
      ...reassemblies.flatMap(({ reassembly }) => (reassembly.kind === 'link' ? [reassembly.key] : [])),
    ];
    expect(links.filter((key) => !known.has(key))).toEqual([]);
    expect(known).toContain(memory.keyword);
  });

  test('every keyword is in the form in which words are looked up, or is the target of a link', () => {
    const linked = new Set(
      reassemblies.map(({ reassembly }) => (reassembly.kind === 'link' ? reassembly.key : '')),
    );
    const table = new Substitution(spelling);
    for (const key of Object.keys(keywords)) {
      if (key !== key.toLowerCase()) expect(linked).toContain(key);
      else expect(table.apply(readWords(key)).map((word) => word.key)).toEqual([key]);
    }
  });

  test('every pattern can be parsed, and every word in it survives spelling and reflection', () => {
    const spell = new Substitution(spelling);
    const results = new Set(
      Object.values(reflection).flatMap((text) => readWords(text).map(({ key }) => key)),
    );
    for (const pattern of [...rules, ...extractLists.flat()].map(([first]) => first)) {
      for (const element of parse(pattern)) {
        for (const key of element.kind === 'word' ? element.keys : []) {
          expect(key, pattern).toMatch(/^[a-z'-]+$/);
          expect(
            spell.apply(readWords(key)).map((word) => word.key),
            pattern,
          ).toEqual([key]);
          expect(results.has(key) || !Object.hasOwn(reflection, key), `${key} in ${pattern}`).toBe(true);
        }
      }
    }
  });

  test('no rule is hidden by those before it', () => {
    for (const { key, rules: list } of ruleLists) {
      const patterns = list.map(([pattern]) => pattern);
      for (const [index, pattern] of patterns.entries()) {
        const fits = [0, 1, 2, 3, 4].map((choice) => firstFit(patterns, witness(parse(pattern), choice)));
        expect(fits, `${pattern} of ${key}`).toContain(index);
      }
    }
    for (const list of extractLists.filter((extracts) => extracts !== memory.extracts)) {
      const patterns = list.map(([pattern]) => pattern);
      for (const [index, pattern] of patterns.entries()) {
        expect(firstFit(patterns, witness(parse(pattern), 0)), pattern).toBe(index);
      }
    }
  });

  test('every rule has a reassembly, and none twice', () => {
    for (const [pattern, ...sources] of rules) {
      expect(sources.length, pattern).toBeGreaterThan(0);
      expect(new Set(sources).size, pattern).toBe(sources.length);
    }
  });

  test('every number in a reassembly or an extract is an element of its pattern', () => {
    const texts = [
      ...reassemblies.map(({ pattern, reassembly }) => [pattern, textIn(reassembly)] as const),
      ...extractLists.flat(),
    ];
    for (const [pattern, text] of texts) {
      for (const index of indices(text)) {
        expect(index, `${text} for ${pattern}`).toBeGreaterThanOrEqual(1);
        expect(index, `${text} for ${pattern}`).toBeLessThanOrEqual(parse(pattern).length);
      }
    }
  });

  test('every fact in a reply is noted somewhere, and no reply uses an unknown fact', () => {
    for (const { source, reassembly } of reassemblies) {
      for (const name of factsIn(reassembly)) expect(Object.keys(facts), source).toContain(name);
      if (reassembly.unless !== null) {
        expect(Object.keys(facts), source).toContain(reassembly.unless);
        expect(factsIn(reassembly), source).not.toContain(reassembly.unless);
      }
    }
  });

  test('every pattern of a fact contains a plain word', () => {
    for (const [pattern] of Object.values(facts).flat()) {
      expect(
        pattern.split(' ').some((word) => /^[a-z']+$/.test(word)),
        pattern,
      ).toBe(true);
    }
  });

  test('every reply is a sentence and at most 140 characters before the user’s own words', () => {
    for (const { source, reassembly } of reassemblies) {
      if (reassembly.kind !== 'text') continue;
      expect(reassembly.text, source).toMatch(/^[\p{Lu}{`“].*[.?]$/u);
      expect(reassembly.text.length, source).toBeLessThanOrEqual(140);
    }
  });

  test('the keyword none matches any clause, and has replies', () => {
    const [pattern, ...sources] = none;
    expect(pattern).toBe('0');
    for (const source of sources)
      expect(parseReassembly(source)).toMatchObject({ kind: 'text', unless: null });
  });
});

describe('a conversation', () => {
  for (const [name, turns] of Object.entries(goldenDialogues)) {
    test(`${name} has the written replies`, () => {
      const dialogue = new Dialogue(colleagueScript);
      expect(turns.length).toBeGreaterThanOrEqual(8);
      expect(turns.map(([message]) => [message, dialogue.respond(message)])).toEqual(turns);
    });
  }

  test('a name that was mentioned once is known later, in the spelling of the user', () => {
    for (const introduction of [
      'My name is Ada',
      'Hello, my name is Ada.',
      'call me Ada',
      'I’m called Ada',
      'You can call me Ada',
    ]) {
      for (const question of [
        'What is my name?',
        'what’s my name',
        'Do you know what my name is?',
        'Do you remember me?',
        'Who am I?',
      ]) {
        const dialogue = new Dialogue(colleagueScript);
        dialogue.respond(introduction);
        expect(dialogue.respond(question), `${introduction} ${question}`).toContain('Ada');
      }
    }
  });

  test('other words are not taken for a name', () => {
    for (const remark of [
      'My name is not important',
      'call me later',
      'What is my name?',
      'Tell me what my name is please',
    ]) {
      const dialogue = new Dialogue(colleagueScript);
      dialogue.respond(remark);
      expect(dialogue.respond('What is my name?'), remark).toMatch(
        /^(You have not told me yet|I do not know it)/,
      );
    }
  });

  test('the home, the work and the language of the user are known, too', () => {
    const dialogue = new Dialogue(colleagueScript);
    for (const message of [
      'I live in New York',
      'I am working on my thesis',
      'My favourite language is Rust',
    ]) {
      dialogue.respond(message);
    }
    expect(dialogue.respond('Where do I live?')).toContain('New York');
    expect(dialogue.respond('What am I working on?')).toContain('your thesis');
    expect(dialogue.respond('What is my favourite language?')).toContain('Rust');
  });
});
