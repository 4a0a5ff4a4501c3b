// Writes sessions as one HTML file for reading. Nothing in it runs or is loaded from elsewhere, and all messages are text.
import { Marked, type MarkedExtension } from 'marked';
import { isCut, type Message } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { counted } from '../counted.ts';
import { style } from './html-style.ts';

/** Replies are Markdown of a model that may write anything. HTML in them is shown as text, and links lead to web addresses only. */
const untrusted: MarkedExtension = {
  gfm: true,
  renderer: {
    html: ({ text, block }) => (block ? `<p class="typed">${escaped(text.trimEnd())}</p>\n` : escaped(text)),
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      return isWebAddress(href) ? `<a href="${escaped(href)}" rel="noreferrer noopener">${inner}</a>` : inner;
    },
    // Loading an image would tell its server that the page was read, so an image becomes a link.
    image: ({ href, text }) =>
      isWebAddress(href)
        ? `<a href="${escaped(href)}" rel="noreferrer noopener">${escaped(text || href)}</a>`
        : escaped(text),
  },
};

/** A longer reply is not prose, and its Markdown would take seconds. */
const mostMarkdown = 200_000;

export class HtmlPage {
  readonly #marked = new Marked(untrusted);
  readonly #entries: string[] = [];

  begin(title: string): string {
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
`;
  }

  session({ session, messages }: SessionRecord): string {
    const id = `s${this.#entries.length + 1}`;
    const title = session.title ?? '(no title)';
    this.#entries.push(`<li><a href="#${id}">${escaped(title)}</a> ${time(session.updated_at)}</li>`);
    return `<article id="${id}">
<header>
<h1 dir="auto">${escaped(title)}</h1>
<p><code>${escaped(session.session_id)}</code> · ${counted(session.message_count, 'message')} · ${time(session.created_at)} to ${time(session.updated_at)}</p>
</header>
${messages.map((message) => this.#message(message)).join('')}</article>
`;
  }

  /** The contents are known last, so they come last. The style shows them first. */
  end(): string {
    const contents =
      this.#entries.length > 1
        ? `<nav><h2>Sessions</h2><ol>\n${this.#entries.join('\n')}\n</ol></nav>\n`
        : '';
    return `${contents}</body>\n</html>\n`;
  }

  #message(message: Message): string {
    const isUser = message.role === 'user';
    const who = isUser ? 'You' : escaped(message.mode);
    // The message of a person is shown as it was typed. Only a reply is Markdown.
    const content = isUser
      ? `<div class="typed" dir="auto">${escaped(message.content)}</div>`
      : this.#reply(message.content);
    return `<section class="${isUser ? 'user' : 'assistant'}">
<h2>${who} ${time(message.created_at)}${isCut(message) ? ` <span class="cut">cut: ${message.finish_reason}</span>` : ''}</h2>
${content}</section>
`;
  }

  #reply(content: string): string {
    try {
      if (content.length <= mostMarkdown) {
        return `<div dir="auto">${this.#marked.parse(content, { async: false })}</div>`;
      }
    } catch {
      // The Markdown is nested too deep, so the reply is shown as text.
    }
    return `<div class="typed" dir="auto">${escaped(content)}</div>`;
  }
}

function time(text: string): string {
  return `<time datetime="${escaped(text)}">${escaped(text.slice(0, 16).replace('T', ' '))}</time>`;
}

function isWebAddress(address: string): boolean {
  return /^(https?:|mailto:)/i.test(address);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
