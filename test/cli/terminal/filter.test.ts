// The terminal filter against attacks, against every cut of a text, and against what it must leave alone.
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  exactFilter,
  filterText,
  oneLine,
  type TextFilter,
  terminalFilter,
} from '../../../src/cli/terminal/filter.ts';

/** Written without the filter's own pattern: by code point, as the rule is written down. */
function mayBeShown(codePoint: number): boolean {
  if (codePoint === 0x0a || codePoint === 0x09) return true;
  if (codePoint < 0x20 || (codePoint >= 0x7f && codePoint <= 0x9f)) return false;
  if (codePoint >= 0x2028 && codePoint <= 0x202e) return false;
  if (codePoint >= 0x2066 && codePoint <= 0x2069) return false;
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return false;
  return !(codePoint >= 0xe0000 && codePoint <= 0xe007f);
}

function isHarmless(text: string): boolean {
  for (const character of text) if (!mayBeShown(character.codePointAt(0) ?? 0)) return false;
  return true;
}

function inPieces(filter: TextFilter, pieces: readonly string[]): string {
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

const alphabet = [
  ...'ab[]0;?mH\\',
  ...'\n\t\r\x07\x08\x1b\x00\x0b\x0c\x7f\x80\x84\x90\x9b\x9c\x9d\x9f',
  ...'é日\u200e\u200f\u202a\u202e\u2066\u2069\u2028\u2029\u{1f600}\u{e0001}\u{e007f}',
  '\ud800',
  '\udbff',
  '\udc00',
  '\udb40',
];
const hostileText = fc.array(fc.constantFrom(...alphabet), { maxLength: 12 }).map((parts) => parts.join(''));

const attacks: Readonly<Record<string, string>> = {
  'the clipboard (OSC 52)': '\x1b]52;c;cm0gLXJmIH4=\x07',
  'the clipboard, ended by ST': '\x1b]52;c;cm0gLXJmIH4=\x1b\\',
  'the window title': '\x1b]0;pwned\x07',
  'the window title, asked back as input': '\x1b[21t',
  'a hyperlink that hides its target': '\x1b]8;;https://bad.example\x1b\\https://good.example\x1b]8;;\x1b\\',
  'cursor moves': 'safe\x1b[1A\x1b[2Kforged',
  'the screen cleared': '\x1b[2J\x1b[H\x1bc',
  'the other screen': '\x1b[?1049h',
  'hidden text': '\x1b[8mhidden\x1b[0m',
  'a device answer as input': '\x1b[6n\x1b[c\x1bZ',
  'a DCS string': '\x1bPq#0;2;0;0;0~-\x1b\\',
  'a DCS request that echoes': '\x1bP$q"p\x1b\\',
  'an APC string': '\x1b_Gf=100;AAAA\x1b\\',
  'a PM string': '\x1b^private\x1b\\',
  'an SOS string': '\x1bXstart\x1b\\',
  'a character set shift': '\x1b(0\x0elqqk\x0f',
  'a CSI in eight bits': '\u009b31mred\u009b2J',
  'an OSC in eight bits': '\u009d52;c;AAAA\u009c',
  'a DCS in eight bits': '\u0090q\u009c',
  'C1 bodies': '\u0084\u0085\u0088\u008d\u0098\u009e\u009f',
  'a line overwritten after CR': 'rm -rf /\rls -l   ',
  'text taken back by backspaces': 'evil\b\b\b\bgood',
  'text deleted': 'evil\x7f\x7f\x7f\x7fgood',
  bells: '\x07\x07\x07',
  'vertical moves': 'a\x0bb\x0cc',
  'NUL between': 'a\x00b',
  'a bidirectional override': 'user\u202e gpj.exe\u202c',
  'bidirectional isolates': '\u2066admin\u2069\u2067x\u2068y',
  'bidirectional embeddings': '\u202aa\u202bb\u202dc\u202c',
  'line separators of Unicode': 'a\u2028b\u2029c',
  'hidden tag characters': 'hi\u{e0001}\u{e0068}\u{e0069}\u{e007f}',
  'half a tag character': 'x\udb40y\udc01z',
  'lone surrogates': '\ud83d \ude00 \udfff\ud800',
  'a sequence inside another': '\x1b]0;\x1b[31m\x1b]0;x\x07\x07',
  'a sequence that stripping completes': '\x1b\x1b[0m[31m\x1b[\x1b[0m2J',
  'an unfinished sequence': 'abc\x1b[',
  'CR before CRLF': 'forged\r\r\nline',
};

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

  test('turns CRLF into LF and shows a CR alone', () => {
    expect(filterText('a\r\nb\rc\r\r\nd\r')).toBe('a\nb\\x0dc\\x0d\nd\\x0d');
  });

  test('holds a CR back until the next piece says what it is', () => {
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

  test('joins a character that was cut between two pieces', () => {
    const filter = terminalFilter();
    expect([filter.push('a\ud83d'), filter.push('\ude00b')]).toEqual(['a', '\u{1f600}b']);
  });

  test('leaves honest text alone', () => {
    const text =
      'Grüße,\t日本語 \u{1f468}\u200d\u{1f469}\u200d\u{1f467} ❤\ufe0f שלום\u200f עולם\u200e \u061c e\u0301\n\n';
    expect(filterText(text)).toBe(text);
    expect(inPieces(terminalFilter(), [text])).toBe(text);
  });

  test('lets through only what may be shown, for 100,000 random texts', () => {
    const property = fc.property(hostileText, (text) => isHarmless(filterText(text)));
    fc.assert(property, { numRuns: 100_000 });
  });

  test('gives the same for every way of cutting a text', () => {
    const pieces = fc.array(hostileText, { maxLength: 6 });
    const property = fc.property(
      pieces,
      (texts) => inPieces(terminalFilter(), texts) === filterText(texts.join('')),
    );
    fc.assert(property, { numRuns: 20_000 });
  });

  test('keeps every character that may be shown', () => {
    const harmless = (text: string) => [...text].filter((character) => isHarmless(character)).join('');
    const property = fc.property(hostileText, (text) => {
      const marked = text.replaceAll('\\', '').replaceAll('\r\n', '\n');
      expect(filterText(marked).replace(/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/g, '')).toBe(harmless(marked));
    });
    fc.assert(property, { numRuns: 5_000 });
  });

  test('does what stripping escape sequences does not', () => {
    const property = fc.property(hostileText, (text) => isHarmless(stripVTControlCharacters(text)));
    expect(fc.check(property, { numRuns: 1000 }).failed).toBe(true);
    const survivors = Object.values(attacks).filter(
      (attack) => !isHarmless(stripVTControlCharacters(attack)),
    );
    expect(survivors.length).toBeGreaterThan(15);
    const cut = ['\x1b]0;pw', 'ned\x07'];
    expect(isHarmless(cut.map((piece) => stripVTControlCharacters(piece)).join(''))).toBe(false);
  });
});

describe('the exact filter', () => {
  test('changes no text, and never cuts a character in two', () => {
    const property = fc.property(fc.array(hostileText, { maxLength: 6 }), (pieces) => {
      const filter = exactFilter();
      const out = [...pieces.map((piece) => filter.push(piece)), filter.end()];
      expect(out.join('')).toBe(pieces.join(''));
      const bytes = Buffer.concat(out.map((piece) => Buffer.from(piece)));
      expect(bytes.equals(Buffer.from(pieces.join('')))).toBe(true);
    });
    fc.assert(property, { numRuns: 5_000 });
  });
});

test('one line has neither newlines nor tabs', () => {
  expect(oneLine('a\r\nb\nc\rd\te')).toBe('a b c d e');
});
