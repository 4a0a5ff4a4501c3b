// Writes sessions as one HTML file. Nothing is loaded from elsewhere, and no message can run code.
import { Marked, type MarkedExtension } from 'marked';
import { isCut, type Message } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { escapeHtml } from '../../system/html-escape.ts';
import { counted } from '../counted.ts';
import { highlighting } from '../terminal/markdown/highlighting.ts';
import { indexEntry, pageHead, sessionIndex, timeElement } from './html-index.ts';
import { markOf, messagesInOrder } from './message-order.ts';

/** Replies are untrusted Markdown. HTML in them is shown as text, and links may only have web addresses. */
const untrusted: MarkedExtension = {
  gfm: true,
  extensions: [
    {
      name: 'long text',
      level: 'inline',
      tokenizer: (text) => (text.length > maxInline ? { type: 'text', raw: text, text } : undefined),
    },
  ],
  renderer: {
    code: ({ text, lang }) => codeBlock(text, lang),
    html: ({ text, block }) =>
      block ? `<p class="typed">${escapeHtml(text.trimEnd())}</p>\n` : escapeHtml(text),
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      return isWebAddress(href)
        ? `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${inner}</a>`
        : inner;
    },
    // An image becomes a link, because loading it would tell its server that the page was read.
    image: ({ href, text }) =>
      isWebAddress(href)
        ? `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${escapeHtml(text || href)}</a>`
        : escapeHtml(text),
  },
};

/** A longer reply is shown as text, because rendering it would take seconds. */
const maxMarkdown = 200_000;
/** The same limit for one paragraph: `marked` takes quadratic time for emphasis and links. */
const maxInline = 4000;
/** `marked` keeps the text of a quote or list once for each level that it is nested: a thousand levels exhaust the heap. */
const nestedTooDeep = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){100}/m;

export class HtmlPage {
  readonly #marked = new Marked(untrusted);
  readonly #entries: string[] = [];

  /** `several` is true if more than one session may come. */
  begin(title: string, several: boolean): string {
    return pageHead(title, { runs: several });
  }

  session(record: SessionRecord): string {
    const { session } = record;
    const id = `s${this.#entries.length + 1}`;
    const title = session.title ?? '(no title)';
    this.#entries.push(indexEntry(session, `#${id}`));
    return `<article id="${id}">
<header>
<h1 dir="auto">${escapeHtml(title)}</h1>
<p><code>${escapeHtml(session.session_id)}</code> · ${counted(session.message_count, 'message')} · ${timeElement(session.created_at)} to ${timeElement(session.updated_at)}</p>
</header>
${messagesInOrder(record)
  .map((message) => this.#message(message))
  .join('')}</article>
`;
  }

  /** The list of sessions is complete only at the end. The style moves it to the top. */
  end(): string {
    const contents = this.#entries.length > 1 ? sessionIndex(this.#entries) : '';
    return `${contents}</body>\n</html>\n`;
  }

  #message(message: Message): string {
    const isUser = message.role === 'user';
    const who = isUser ? 'You' : escapeHtml(message.mode);
    // The user's message is shown as it was typed. Only replies are Markdown.
    const content = isUser
      ? `<div class="typed" dir="auto">${escapeHtml(message.content)}</div>`
      : this.#reply(message.content);
    const mark = markOf(message);
    const aside = mark === null ? '' : ` <span class="aside">${escapeHtml(mark)}</span>`;
    return `<section class="${isUser ? 'user' : 'assistant'}${mark === null ? '' : ' hidden'}">
<h2>${who} ${timeElement(message.created_at)}${aside}${isCut(message) ? ` <span class="cut">cut: ${message.finish_reason}</span>` : ''}</h2>
${content}</section>
`;
  }

  #reply(content: string): string {
    try {
      if (content.length <= maxMarkdown && !nestedTooDeep.test(content)) {
        return `<div dir="auto">${this.#marked.parse(content, { async: false })}</div>`;
      }
    } catch {
      // The Markdown is nested too deep, so the reply is shown as text.
    }
    return `<div class="typed" dir="auto">${escapeHtml(content)}</div>`;
  }
}

function isWebAddress(address: string): boolean {
  return /^(https?:|mailto:)/i.test(address);
}

/** Longer code, or code with a longer line, is not highlighted, because that would take seconds. */
const maxCode = 50_000;
const maxLineLength = 1000;

/** A code block, highlighted if its language is known. */
function codeBlock(text: string, language: string | undefined): string {
  const [name] = /^[\w+#.-]+/.exec(language ?? '') ?? [];
  const kind = name === undefined ? '' : ` class="language-${name}"`;
  return `<pre><code${kind}>${coloured(text, language ?? '')}\n</code></pre>\n`;
}

function coloured(text: string, language: string): string {
  const lines = text.split('\n');
  const isLong = text.length > maxCode || lines.some((line) => line.length > maxLineLength);
  const painter = isLong ? null : highlighting.painter(language, span);
  return painter === null ? escapeHtml(text) : lines.map((line) => painter.line(line)).join('\n');
}

/** `scope` is from the table of colours, so it needs no escaping. */
function span(text: string, scope: string | null): string {
  const escaped = escapeHtml(text);
  return scope === null || escaped === ''
    ? escaped
    : `<span class="hl-${scope.replace('.', '-')}">${escaped}</span>`;
}
