// The characters of words, and the characters that count as equal: the rules that read texts agree with SQLite's index.

import { expect, test } from 'vitest';
import { foldCase, foldWord, wordsIn } from '../../../src/store/search-characters.ts';
import { RawDatabase } from '../../support/raw-database.ts';
import { runs } from '../../support/runs.ts';

const everyCharacter = runs(0x3000, 0x110000);
const fewOthers = 2000;

/** The first characters of Unicode, which include nearly all exceptions, and a sample of the others. */
function characters(): readonly string[] {
  const first = Array.from({ length: everyCharacter - 1 }, (_, index) => index + 1);
  const others = Array.from({ length: fewOthers }, () => Math.floor(Math.random() * 0x10ffff) + 1);
  return [...first, ...others]
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code));
}

/** The words that an index with this tokenizer holds for each text, in their order. */
function indexed(tokenizer: string, texts: readonly string[]): readonly (readonly string[])[] {
  const database = new RawDatabase(':memory:');
  try {
    database.exec(`CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = '${tokenizer}')`);
    database.exec('CREATE VIRTUAL TABLE known USING fts5vocab (words, instance)');
    const add = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
    database.transaction(() => {
      for (const [index, text] of texts.entries()) add.run(index + 1, text);
    })();
    const rows = database
      .prepare<[], { doc: number; term: string }>('SELECT doc, term FROM known ORDER BY doc, offset')
      .all();
    const found = texts.map((): string[] => []);
    for (const { doc, term } of rows) found[doc - 1]?.push(term);
    return found;
  } finally {
    database.close();
  }
}

test('a text is divided into the same words as in the index', () => {
  const texts = characters().map((character) => `x${character}y`);
  const words = texts.map((text) => Array.from(wordsIn(text), ([word]) => foldWord(word)));
  const expected = indexed('unicode61 remove_diacritics 2', texts);
  expect(texts.filter((_, index) => words[index]?.join() !== expected[index]?.join())).toEqual([]);
}, 120_000);

test('a character of a piece is folded as in the index, and keeps its place', () => {
  const texts = characters().map((character) => `${character}xy`);
  const expected = indexed('trigram', texts);
  expect(texts.filter((text, index) => foldCase(text) !== expected[index]?.[0])).toEqual([]);
  expect(texts.filter((text) => foldCase(text).length !== text.length)).toEqual([]);
}, 120_000);
