// Removes the reports of a terminal from the keys: responses to queries (colours, position, device), and mouse and focus reports. Unknown
// sequences are also removed, so that none becomes text. Keys in newer encodings are translated into the old one.

/** The time (ms) after which the caller calls `end`. A report takes less, even on a slow line. */
export const reportMs = 300;

const esc = '\\x1b';
/** The start of a string that a terminal sends: OSC, DCS, APC, PM, SOS, with ESC or as one character (C1). */
const string = `(?:${esc}[\\]P_^X]|[\\x9d\\x90\\x9f\\x9e\\x98])`;
const stringEnd = `(?:\\x07|${esc}\\\\|\\x9c)`;
const csi = `(?:${esc}\\[|\\x9b)`;

/** A function key of the Linux console, a click in the oldest form, a control sequence, or a string. */
const sequence = new RegExp(
  `${csi}\\[[A-E]|${csi}M[^]{3}|${csi}[0-?]*[ -/]*[@-LN-Z\\\\-~]|${csi}[0-?]+[ -/]*M|${string}[^\\x07\\x1b\\x9c]*${stringEnd}`,
  'g',
);
/** The beginning of such a sequence at the end of the text. ESC alone is a key. */
const beginning = new RegExp(`(?:${csi}(?:\\[|M[^]{0,2}|[0-?]*[ -/]*)|${string}[^\\x07\\x1b\\x9c]*${esc}?)$`);

/**
 * Arrow keys and similar ones, keys by number, and the keys of rxvt. node:readline knows no others. It reads one digit of the modifiers (9
 * and more include Meta) and would type what follows that digit.
 */
const oldKey = /^(?:\d{0,2}(?:;\d)?[A-FHPQSZ]|[a-e]|\d{1,2}(?:;\d)?[~^$]|\[[A-E])$/;
/** The code of a character and its modifiers: `13;2u` (kitty), `27;2;13~` (xterm). */
const newKey = /^(?:(\d+)(?::\d*)*(?:;(\d+)(?::[12])?(?:;[\d:]*)?)?u|27;(\d+);(\d+)~)$/;

const interrupt = '\x03';
const maxReportLength = 64 * 1024;

const modifierBits = { shift: 1, alt: 2, control: 4 } as const;
const enter = 13;

export class TerminalReports {
  #held = '';

  /** Returns the keys and the text of what arrived. */
  push(text: string): string {
    if (this.#held.length > maxReportLength) this.#held = '';
    const all = this.#held + text;
    const at = all.replace(sequence, (found) => '\0'.repeat(found.length)).search(beginning);
    this.#held = at === -1 ? '' : all.slice(at);
    const keys = (at === -1 ? all : all.slice(0, at)).replace(sequence, keyOf);
    // Ctrl-C is not part of a report, and must not wait for the end of one.
    const interrupted = this.#held.indexOf(interrupt);
    if (interrupted === -1) return keys;
    const rest = this.#held.slice(interrupted);
    this.#held = '';
    return keys + rest;
  }

  /** True if a sequence has begun and not ended. */
  get isOpen(): boolean {
    return this.#held !== '';
  }

  /** Called when nothing more arrived. Returns a rest of two characters, which is a key with Alt. A longer rest is dropped. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return /^\x1b[\]P_^X]$/.test(rest) ? rest : '';
  }
}

function keyOf(found: string): string {
  const [, body] = /^(?:\x1b\[|\x9b)(.*)$/s.exec(found) ?? [];
  if (body === undefined) return '';
  const [, code, modifiers, others = '1', other] = newKey.exec(body) ?? [];
  if (code !== undefined || other !== undefined)
    return keyInOldEncoding(
      Number(code ?? other),
      Number(code === undefined ? others : (modifiers ?? 1)) - 1,
    );
  return oldKey.test(body) ? `\x1b[${body}` : '';
}

/** The key in the old encoding. Enter with any modifier is a new line. */
function keyInOldEncoding(code: number, modifiers: number): string {
  if (code === enter) return modifiers === 0 ? '\r' : '\x1b\r';
  // Keys without a character have codes of the private use area.
  if (code > 0x10ffff || (code >= 0xe000 && code <= 0xf8ff) || (code >= 0xd800 && code <= 0xdfff)) return '';
  if (code >= 0x80 && code < 0xa0) return '';
  const character = String.fromCodePoint(code);
  const shifted = (modifiers & modifierBits.shift) === 0 ? character : character.toUpperCase();
  const isLetter = /^[a-z@[\]\\^_ ]$/i.test(character);
  const withControl = (modifiers & modifierBits.control) !== 0;
  const key =
    withControl && isLetter ? String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f) : shifted;
  return (modifiers & modifierBits.alt) === 0 ? key : `\x1b${key}`;
}
