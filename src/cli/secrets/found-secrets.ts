// Finds the secrets in a text, in time proportional to its length.
import { isCard } from './secret-checks.ts';
import { type SecretRule, secretRules } from './secret-rules.ts';

export interface FoundSecret {
  readonly kind: string;
  /** The position in the text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The first characters, which identify only the kind. Empty if there are none. */
  readonly prefix: string;
}

/** A secret after one of these is part of a longer word. A run of them is therefore tried only once, and the time stays linear. */
const wordCharacter = /[A-Za-z0-9_-]/;
const keyBlock =
  /-----BEGIN ((?:RSA |EC |DSA |OPENSSH |ENCRYPTED |SSH2 ENCRYPTED )?PRIVATE KEY|PGP PRIVATE KEY BLOCK)-----/y;
const maxKeyBlockCharacters = 64 * 1024;
/** In groups as printed on cards, or without groups. */
const cardShape =
  /(?<![\w.,:/+-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|3\d{3}([ -])\d{6}\2\d{4,5}|\d{13,19})(?![\w/]|[.,:-]\w)/g;

/** The secrets in their order. Overlapping secrets are merged and have the kind of the first. */
export function secretsIn(text: string): readonly FoundSecret[] {
  const found = [...keyBlocks(text), ...cards(text)];
  for (const rule of secretRules) addMatches(rule, text, found);
  if (found.length < 2) return found;
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  const merged: FoundSecret[] = [];
  for (const secret of found) {
    const last = merged.at(-1);
    if (last === undefined || last.end <= secret.start) merged.push(secret);
    else if (last.end < secret.end) merged[merged.length - 1] = { ...last, end: secret.end };
  }
  return merged;
}

/** The text with a mark instead of each secret. */
export function withoutSecrets(text: string, secrets: readonly FoundSecret[] = secretsIn(text)): string {
  let result = '';
  let at = 0;
  for (const { kind, start, end } of secrets) {
    result += text.slice(at, start) + redactionMark(kind);
    at = end;
  }
  return result + text.slice(at);
}

export function redactionMark(kind: string): string {
  return `[redacted ${kind}]`;
}

function* occurrences(text: string, part: string): Generator<number> {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) yield at;
}

/** Most texts contain none of the beginnings, so they cost one search each. */
function addMatches(
  { kind, beginnings, shape, check, insideWords }: SecretRule,
  text: string,
  found: FoundSecret[],
): void {
  for (const beginning of beginnings) {
    for (let at = text.indexOf(beginning); at >= 0; at = text.indexOf(beginning, at)) {
      const isInside = !insideWords && at > 0 && wordCharacter.test(text[at - 1] ?? '');
      shape.lastIndex = at;
      const match = isInside ? null : shape.exec(text);
      const [start, end] = match?.indices?.groups?.['secret'] ?? [at, at + (match?.[0].length ?? 0)];
      const isSecret = match !== null && check?.(text.slice(start, end)) !== false;
      // Text before the group is not part of the secret.
      if (isSecret) found.push({ kind, start, end, prefix: start === at ? beginning : '' });
      at = isSecret ? end : at + beginning.length;
    }
  }
}

/** Private keys as text. A block without an end line ends with its last line of base64. */
function* keyBlocks(text: string): Generator<FoundSecret> {
  let next = 0;
  /** The position of the next end line of each type. */
  const closings = new Map<string, number>();
  for (const start of occurrences(text, '-----BEGIN ')) {
    if (start < next) continue;
    keyBlock.lastIndex = start;
    const match = keyBlock.exec(text);
    if (match === null) continue;
    const closing = `-----END ${match[1]}-----`;
    let place = closings.get(closing) ?? -1;
    if (place < start) place = text.indexOf(closing, start);
    if (place < 0) place = Number.POSITIVE_INFINITY;
    closings.set(closing, place);
    const isWhole = place - start <= maxKeyBlockCharacters;
    const end = isWhole ? place + closing.length : endOfLines(text, start + match[0].length);
    if (end - start < match[0].length + 64) continue;
    next = end;
    yield { kind: 'private_key', start, end, prefix: match[0] };
  }
}

const linesOfKey = /(?:\r?\n[A-Za-z0-9+/=]{16,76}(?![A-Za-z0-9+/=])){0,1000}/y;

/** The end of the lines of base64 that start there. */
function endOfLines(text: string, start: number): number {
  linesOfKey.lastIndex = start;
  return start + (linesOfKey.exec(text)?.[0].length ?? 0);
}

function* cards(text: string): Generator<FoundSecret> {
  cardShape.lastIndex = 0;
  for (let match = cardShape.exec(text); match !== null; match = cardShape.exec(text)) {
    const { 0: digits, index: start } = match;
    // The number on the back of a card may follow it.
    const [card] = [digits, digits.slice(0, -4)].filter(isCard);
    const [first = digits] = digits.split(/[ -]/, 1);
    cardShape.lastIndex = start + (card ?? first).length;
    if (card !== undefined) yield { kind: 'card_number', start, end: start + card.length, prefix: '' };
  }
}
