// Reports that a terminal sends between keys become no text, for any chunks; and the keys of newer terminals are recognised.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TerminalReports } from '../../../src/cli/terminal/terminal-reports.ts';

function through(pieces: readonly string[]): string {
  const reports = new TerminalReports();
  return pieces.map((piece) => reports.push(piece)).join('') + reports.end();
}

const reports: Readonly<Record<string, string>> = {
  'a colour (OSC 11)': '\x1b]11;rgb:1e1e/1e1e/2e2e\x07',
  'a colour, ended by ST': '\x1b]10;rgb:ffff/ffff/ffff\x1b\\',
  'the clipboard (OSC 52)': '\x1b]52;c;cm0gLXJmIH4=\x1b\\',
  'the device (DA)': '\x1b[?64;1;2;6;9;15;22c',
  'the second device (DA2)': '\x1b[>41;354;0c',
  'the third device (DA3)': '\x1bP!|7E565445\x1b\\',
  'the position (DSR)': '\x1b[12;40R',
  'a status (DSR)': '\x1b[0n',
  'a mode (DECRPM)': '\x1b[?2026;2$y',
  'the name (XTVERSION)': '\x1bP>|xterm(388)\x1b\\',
  'a setting (DECRQSS)': '\x1bP1$r0m\x1b\\',
  'a capability (XTGETTCAP)': '\x1bP1+r524742=38\x1b\\',
  'graphics (APC)': '\x1b_Gi=31;OK\x1b\\',
  'the window, in characters': '\x1b[8;24;80t',
  'the title': '\x1b]lbad title\x1b\\',
  'the mouse': '\x1b[<0;12;7M\x1b[<0;12;7m',
  'the mouse, with its place in UTF-8': '\x1b[M !\u0101',
  'the mouse, as urxvt tells it': '\x1b[32;12;7M',
  'the focus': '\x1b[I\x1b[O',
  'the kitty keyboard': '\x1b[?1u',
  'a key that was let go': '\x1b[97;1:3u',
  'a key without a character': '\x1b[57441;2u',
  'an arrow key with Meta, which node:readline would type as A': '\x1b[1;10A',
  'Delete with Meta, which node:readline would type as ~': '\x1b[3;16~',
  'an OSC in one character': '\u009d11;rgb:0/0/0\u009c',
  'a CSI in one character': '\u009b?64c',
};

describe('a report', () => {
  test.each(Object.entries(reports))('of %s is no text, for any chunks', (_name, report) => {
    for (let at = 0; at <= report.length; at++) {
      const text = through(['one ', report.slice(0, at), report.slice(at), 'two']);
      // ESC at the end of a chunk is a key only if nothing follows it; the reader before this one checks that.
      if (!report.slice(0, at).endsWith('\x1b')) expect(text, String(at)).toBe('one two');
    }
  });

  test('that never ends is no text', () => {
    expect(through(['a', '\x1b]11;rgb:'])).toBe('a');
    expect(through(['a', '\x1b[?64;1'])).toBe('a');
  });

  test('does not change the typed keys around it', () => {
    const all = Object.values(reports);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...all), fc.stringMatching(/^[a-z /]*$/))), (parts) => {
        expect(through(parts.flat())).toBe(parts.map(([, text]) => text).join(''));
      }),
    );
  });
});

describe('a key', () => {
  test.each([
    ['Shift-Enter, as kitty tells it', '\x1b[13;2u', '\x1b\r'],
    ['Shift-Enter, as xterm tells it', '\x1b[27;2;13~', '\x1b\r'],
    ['Ctrl-Enter', '\x1b[13;5u', '\x1b\r'],
    ['Enter', '\x1b[13u', '\r'],
    ['Ctrl-C', '\x1b[99;5u', '\x03'],
    ['Ctrl-C, as xterm tells it', '\x1b[27;5;99~', '\x03'],
    ['Alt-F', '\x1b[102;3u', '\x1bf'],
    ['a letter', '\x1b[233u', 'é'],
    ['Escape', '\x1b[27u', '\x1b'],
    ['Backspace', '\x1b[127u', '\x7f'],
    ['Up', '\x1b[A', '\x1b[A'],
    ['Ctrl-Left', '\x1b[1;5D', '\x1b[1;5D'],
    ['Delete', '\x1b[3~', '\x1b[3~'],
    ['Backend, as an application', '\x1bOH', '\x1bOH'],
    ['F1 of the Linux console', '\x1b[[A', '\x1b[[A'],
    ['Alt-]', '\x1b]', '\x1b]'],
    ['Alt-Enter', '\x1b\r', '\x1b\r'],
  ])('%s is the same key as before', (_name, report, key) => {
    expect(through([report])).toBe(key);
    if (report.length > 3) expect(through([report.slice(0, 3), report.slice(3)])).toBe(key);
  });
});

describe('the start of a report that never ends', () => {
  test('does not delay Ctrl-C', () => {
    expect(through(['a\x1b]11;rgb:', 'ff\x03b'])).toBe('a\x03b');
    expect(through(['a\x1bPend\x03'])).toBe('a\x03');
  });

  test('is given up after 64 KiB', () => {
    const reports = new TerminalReports();
    for (let pushed = 0; pushed <= 72 * 1024; pushed += 4096)
      reports.push(pushed === 0 ? '\x1b]' : 'x'.repeat(4096));
    expect(reports.isOpen).toBe(false);
    expect(reports.push('key')).toBe('key');
  });
});
