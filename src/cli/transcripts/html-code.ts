// The code blocks of a reply as HTML, highlighted if their language is known.
import { escapeHtml } from '../../system/html-escape.ts';
import { highlighting } from '../terminal/markdown/highlighting.ts';

/** Longer code, or code with a longer line, is not highlighted, because that would take seconds. */
const maxCode = 50_000;
const maxLineLength = 1000;

export function codeBlock(text: string, language: string | undefined): string {
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
