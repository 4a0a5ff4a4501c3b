// Writes settled inline Markdown to a line: marked parses it, and the theme determines the look of each element.
import { Lexer, type Token, type Tokens } from 'marked';
import { filterText } from '../filter.ts';
import { decodeReferences } from './entities.ts';
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
