// The terminal filter: attacks, every cut of a text, and texts that it must not change.
import fc from 'fast-check';
import stripAnsi from 'strip-ansi';
import { describe, expect, test } from 'vitest';
import {
  exactFilter,
  filterText,
  oneLine,
  type TextFilter,
  terminalFilter,
} from '../../../src/cli/terminal/filter.ts';
import { runs } from '../../support/runs.ts';
import { attacks, hostileText, isHarmless } from './attacks.ts';

function inPieces(filter: TextFilter, pieces: readonly string[]): string {
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

describe('the terminal filter', () => {
  test.each(Object.entries(attacks))('makes %s visible, wherever the text is cut', (_, attack) => {
    const whole = filterText(attack);
    expect(isHarmless(whole)).toBe(true);
    expect(whole).toMatch(/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/);
    for (let first = 0; first <= attack.length; first++) {
      for (let second = first; second <= attack.length; second++) {
        const pieces = [attack.slice(0, first), attack.slice(first, second), attack.slice(second)];
        expect(inPieces(terminalFilter(), pieces)).toBe(whole);
      }
    }
  });

  test('shows each dangerous character by its code', () => {
    expect(filterText('\x1b[31m')).toBe('\\x1b[31m');
    expect(filterText('\0\x07\x7f\u0085\u009b')).toBe('\\x00\\x07\\x7f\\x85\\x9b');
    expect(filterText('\u202e\u2069\u2028\u{e0041}')).toBe('\\u{202e}\\u{2069}\\u{2028}\\u{e0041}');
    expect(filterText('\ud800a\udc00')).toBe('\\u{d800}a\\u{dc00}');
  });

  test('turns CRLF into LF and makes a single CR visible', () => {
    expect(filterText('a\r\nb\rc\r\r\nd\r')).toBe('a\nb\\x0dc\\x0d\nd\\x0d');
  });

  test('holds a CR back until the next chunk decides about it', () => {
    const filter = terminalFilter();
    expect(['a\r', '', '\n', 'b\r', 'c\r'].map((piece) => filter.push(piece))).toEqual([
      'a',
      '',
      '\n',
      'b',
      '\\x0dc',
    ]);
    expect(filter.end()).toBe('\\x0d');
    expect(filter.end()).toBe('');
  });

  test('joins a character that was cut between two chunks', () => {
    const filter = terminalFilter();
    expect([filter.push('a\ud83d'), filter.push('\ude00b')]).toEqual(['a', '\u{1f600}b']);
  });

  test('does not change harmless text', () => {
    const text =
      'Grüße,\t日本語 \u{1f468}\u200d\u{1f469}\u200d\u{1f467} ❤\ufe0f שלום\u200f עולם\u200e \u061c e\u0301\n\n';
    expect(filterText(text)).toBe(text);
    expect(inPieces(terminalFilter(), [text])).toBe(text);
  });

  test('passes only permitted characters, for random texts', () => {
    const property = fc.property(hostileText, (text) => isHarmless(filterText(text)));
    fc.assert(property, { numRuns: runs(10_000, 500_000) });
  });

  test('gives the same output for any chunks of a text', () => {
    const pieces = fc.array(hostileText, { maxLength: 6 });
    const property = fc.property(
      pieces,
      (texts) => inPieces(terminalFilter(), texts) === filterText(texts.join('')),
    );
    fc.assert(property, { numRuns: runs(3_000, 100_000) });
  });

  test('keeps every permitted character', () => {
    const harmless = (text: string) => [...text].filter((character) => isHarmless(character)).join('');
    const property = fc.property(hostileText, (text) => {
      const marked = text.replaceAll('\\', '').replaceAll('\r\n', '\n');
      expect(filterText(marked).replace(/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/g, '')).toBe(harmless(marked));
    });
    fc.assert(property, { numRuns: runs(1_000, 25_000) });
  });

  test('handles attacks that a filter of escape sequences passes', () => {
    const property = fc.property(hostileText, (text) => isHarmless(stripAnsi(text)));
    expect(fc.check(property, { numRuns: 1000 }).failed).toBe(true);
    const survivors = Object.values(attacks).filter((attack) => !isHarmless(stripAnsi(attack)));
    expect(survivors.length).toBeGreaterThan(15);
    const cut = ['\x1b]0;pw', 'ned\x07'];
    expect(isHarmless(cut.map((piece) => stripAnsi(piece)).join(''))).toBe(false);
  });
});

describe('the exact filter', () => {
  test('changes no text, and never splits a character', () => {
    const property = fc.property(fc.array(hostileText, { maxLength: 6 }), (pieces) => {
      const filter = exactFilter();
      const out = [...pieces.map((piece) => filter.push(piece)), filter.end()];
      expect(out.join('')).toBe(pieces.join(''));
      const bytes = Buffer.concat(out.map((piece) => Buffer.from(piece)));
      expect(bytes.equals(Buffer.from(pieces.join('')))).toBe(true);
    });
    fc.assert(property, { numRuns: runs(1_000, 25_000) });
  });
});

test('one line has neither newlines nor tabs', () => {
  expect(oneLine('a\r\nb\nc\rd\te')).toBe('a b c d e');
});
