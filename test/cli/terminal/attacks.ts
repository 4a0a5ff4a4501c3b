// Texts that would control a terminal, and the check of what reaches a terminal.
import fc from 'fast-check';

/** Written by code point from the written rule, without the filter's own pattern. */
function mayBeShown(codePoint: number): boolean {
  if (codePoint === 0x0a || codePoint === 0x09) return true;
  if (codePoint < 0x20 || (codePoint >= 0x7f && codePoint <= 0x9f)) return false;
  if (codePoint >= 0x2028 && codePoint <= 0x202e) return false;
  if (codePoint >= 0x2066 && codePoint <= 0x2069) return false;
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return false;
  return !(codePoint >= 0xe0000 && codePoint <= 0xe007f);
}

export function isHarmless(text: string): boolean {
  for (const character of text) if (!mayBeShown(character.codePointAt(0) ?? 0)) return false;
  return true;
}

const esc = '\u001b';
/** The codes of the themes, the styles and the colours of code; nothing hidden, no blinking, no background. */
const ownColour = new RegExp(`${esc}\\[(?:[0-4]|9|2[2-4]|29|3[1-9])(?:;(?:[1-4]|9|3[1-9]))*m`, 'g');

/** The output without Parley's own colours. Without colour there is nothing to remove. */
export function withoutOwnColour(written: string): string {
  return written.replace(ownColour, '');
}

const ownWeight = new RegExp(`${esc}\\[(?:[0-4]|9|2[2-4]|29)(?:;(?:[1-4]|9))*m`, 'g');

/** The same on a terminal without colour, where bold and italic stay. */
export function withoutOwnWeight(written: string): string {
  return written.replace(ownWeight, '');
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
export const hostileText = fc
  .array(fc.constantFrom(...alphabet), { maxLength: 12 })
  .map((parts) => parts.join(''));

export const attacks: Readonly<Record<string, string>> = {
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
  'a working directory told to the terminal': '\x1b]7;file://host/tmp\x07',
  'a notification': '\x1b]777;notify;title;text\x07',
  'mouse reports switched on': '\x1b[?1003h\x1b[?1006h',
  'a palette changed': '\x1b]4;0;#ffffff\x1b\\\x1b]104\x1b\\',
};
