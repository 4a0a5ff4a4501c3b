// Decodes character references in text, such as `&amp;` and `&#8212;`, and filters the characters that they stand for.
import { filterText } from '../filter.ts';

/** The names that occur in prose. A reference with any other name is not decoded. */
const named: ReadonlyMap<string, string> = new Map([
  ['nbsp', '\u00a0'],
  ...[
    'amp & lt < gt > quot " apos \' copy © reg ® trade ™ sect § para ¶ deg ° plusmn ± times × divide ÷ middot · bull •',
    'hellip … ndash – mdash — lsquo ‘ rsquo ’ ldquo “ rdquo ” laquo « raquo » larr ← uarr ↑ rarr → darr ↓ harr ↔ rArr ⇒',
    'ne ≠ le ≤ ge ≥ asymp ≈ infin ∞ euro € pound £ yen ¥ cent ¢ frac12 ½ frac14 ¼ frac34 ¾ sup2 ² sup3 ³ micro µ',
    'alpha α beta β gamma γ delta δ lambda λ pi π sigma σ omega ω szlig ß auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü eacute é check ✓',
  ].flatMap((line) =>
    Array.from(line.matchAll(/(\w+) (\S)/g), ([, name = '', character = '']) => [name, character] as const),
  ),
]);

const reference = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z\d]{1,31}));/g;

/** A reference can stand for an escape character or a newline, so the result is filtered and stays on its line. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(reference, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return valid ? filterText(String.fromCodePoint(code)).replace(/[\t\n]/, ' ') : '\ufffd';
  });
}
