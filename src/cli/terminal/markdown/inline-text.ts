// Writes settled inline Markdown to a line: marked parses it, and the theme determines the look of each element.
import { Lexer, type Token, type Tokens } from 'marked';
import { filterText } from '../filter.ts';
import type { LineWriter } from './line-writer.ts';
import { type Look, type Theme, within } from './theme.ts';

/** Text without any of these marks is written without parsing. */
export const inlineMark = /[\\`*_~[<&@]|:\/\/|www\./i;

export class InlineText {
  readonly #theme: Theme;
  readonly #lexer = new Lexer({ gfm: true });

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  write(source: string, codes: string, line: LineWriter): void {
    if (!inlineMark.test(source)) {
      line.put(source, codes);
      return;
    }
    // marked keeps state about open HTML tags: after an unclosed <a> it would never find an address again.
    this.#lexer.state = {
      inLink: false,
      inRawBlock: false,
      linkEmitted: false,
      linkParenPossible: false,
      top: true,
    };
    this.#lexer.inlineQueue = [];
    this.#tokens(this.#lexer.inlineTokens(source, []), codes, line);
  }

  #tokens(tokens: readonly Token[], codes: string, line: LineWriter): void {
    for (const token of tokens) this.#token(token, codes, line);
  }

  #token(token: Token, codes: string, line: LineWriter): void {
    const theme = this.#theme;
    switch (token.type) {
      case 'strong':
        this.#around(token as Tokens.Strong, theme.strong, codes, line);
        return;
      case 'em':
        this.#around(token as Tokens.Em, theme.emphasis, codes, line);
        return;
      case 'del':
        this.#around(token as Tokens.Del, theme.deleted, codes, line);
        return;
      case 'codespan':
        this.#code((token as Tokens.Codespan).text, codes, line);
        return;
      case 'link':
        this.#link(token as Tokens.Link, codes, line);
        return;
      case 'image':
        this.#image(token as Tokens.Image, codes, line);
        return;
      case 'br':
        line.put('\n', '');
        return;
      case 'escape':
        line.put(filterText((token as Tokens.Escape).text), codes);
        return;
      case 'html':
        line.put(filterText(token.raw), codes);
        return;
      default:
        // marked decodes some references in `text`, so the filtered `raw` is used.
        line.put(decodeReferences(token.raw), codes);
        return;
    }
  }

  #code(text: string, codes: string, line: LineWriter): void {
    const look = this.#theme.code;
    line.put(`${look.open}${filterText(text)}${look.close}`, within(codes, look.codes), true);
  }

  #around({ tokens }: { tokens: Token[] }, look: Look, codes: string, line: LineWriter): void {
    const inner = within(codes, look.codes);
    if (look.open !== '') line.put(look.open, inner);
    this.#tokens(tokens, inner, line);
    if (look.close !== '') line.put(look.close, inner);
  }

  /** The address is always visible, so that the text of a link cannot pretend another target. */
  #link({ tokens, text, href }: Tokens.Link, codes: string, line: LineWriter): void {
    const address = shownAddress(href);
    const { linkText, address: look } = this.#theme;
    if (text === href || `mailto:${text}` === href || `http://${text}` === href) {
      line.put(filterText(text), within(codes, look.codes));
      return;
    }
    this.#tokens(tokens, within(codes, linkText.codes), line);
    line.put(' (', codes);
    line.put(address, within(codes, look.codes));
    line.put(')', codes);
  }

  #image({ text, href }: Tokens.Image, codes: string, line: LineWriter): void {
    line.put(text === '' ? '[image] (' : `[image: ${decodeReferences(filterText(text))}] (`, codes);
    line.put(shownAddress(href), within(codes, this.#theme.address.codes));
    line.put(')', codes);
  }
}

function shownAddress(href: string): string {
  return filterText(href).replace(/\s/g, '%20');
}

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
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(reference, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return valid ? filterText(String.fromCodePoint(code)).replace(/[\t\n]/, ' ') : '\ufffd';
  });
}
