// Checks that go beyond the shape of a secret: whether a token has a header, a password is a placeholder, or digits are a card number.

/** True for `header.payload.signature` whose header is that of a token (RFC 7515): JSON with an algorithm. */
export function isHeaderOfToken(token: string): boolean {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString();
  if (!header.includes('"alg"')) return false;
  try {
    const value: unknown = JSON.parse(header);
    return typeof value === 'object' && value !== null && 'alg' in value;
  } catch {
    return false;
  }
}

const placeholder = /^(?:password|passwd|pass|pwd|secret|token|\*+|x+|\.+|…|\[redacted .*)$/i;

/** False for placeholders of passwords in documentation: `password`, `***`, `$PASSWORD`, `{{password}}`, `%s`. */
export function isPassword(text: string): boolean {
  return !placeholder.test(text) && !/^[$%{<]/.test(text);
}

/** The first digits of cards, and how many digits they have (ISO/IEC 7812; the brands' own ranges). */
const cards: readonly (readonly [first: RegExp, digits: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16]],
  [/^35(?:2[89]|[3-8])/, [16]],
  [/^3(?:0[0-5]|[68])/, [14]],
];

/** True for a card number with a valid check digit. Digits may be separated by spaces and hyphens. */
export function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '');
  const isOfBrand = cards.some(([first, counts]) => counts.includes(digits.length) && first.test(digits));
  return isOfBrand && !/^(\d)\1+$/.test(digits) && passesLuhn(digits);
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at -= 1, isDoubled = !isDoubled) {
    const value = digits.charCodeAt(at) - 48;
    const doubled = value > 4 ? value * 2 - 9 : value * 2;
    sum += isDoubled ? doubled : value;
  }
  return sum % 10 === 0;
}
