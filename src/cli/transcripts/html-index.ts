// The list of sessions of an HTML export, with a field that filters them. Its script is in the page, whose policy allows only this script, by its
// hash.
import { createHash } from 'node:crypto';
import type { SessionFacts } from '../../service/session.ts';
import { escapeHtml } from '../../system/html-escape.ts';
import { counted } from '../counted.ts';
import { localTime, localZone } from '../shown-time.ts';
import { style } from './html-style.ts';

/** Hides the entries that do not contain all words of the field. Without scripts, the field stays hidden. */
const script = `
const field = document.querySelector('nav input');
field.parentElement.hidden = false;
field.addEventListener('input', () => {
  const words = field.value.toLowerCase().split(/\\s+/);
  for (const entry of document.querySelectorAll('nav li')) {
    const text = entry.textContent.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
  }
});
`;

const scriptHash = createHash('sha256').update(script).digest('base64');

/** The page up to its body. `runs` is true for a page with the list. */
export function pageHead(title: string, { runs }: { readonly runs: boolean }): string {
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    ...(runs ? [`script-src 'sha256-${scriptHash}'`] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
`;
}

/** One entry of the list. `address` is an anchor in this page, or another file. */
export function indexEntry(session: SessionFacts, address: string): string {
  const { title, message_count, created_at, updated_at, session_id } = session;
  const link = `<a href="${escapeHtml(address)}" dir="auto">${escapeHtml(title ?? '(no title)')}</a>`;
  const facts = `${counted(message_count, 'message')} · ${timeElement(created_at)} to ${timeElement(updated_at)}`;
  return `<li>${link}<br><small>${facts} · <code>${escapeHtml(session_id)}</code></small></li>`;
}

export function sessionIndex(entries: readonly string[]): string {
  return `${indexStart}${entries.join('\n')}${indexEnd}`;
}

/** Before and after the entries of a list. */
export const indexStart = `<nav><h2>Sessions</h2>
<p hidden><input type="search" placeholder="Filter by title or date" aria-label="Filter the sessions"></p>
<ol>
`;
export const indexEnd = `
</ol></nav>
<script>${script}</script>
`;

/** The local date and time with its zone. A text that is not a time stays unchanged. */
export function timeElement(text: string): string {
  const milliseconds = Date.parse(text);
  const local = Number.isNaN(milliseconds) ? text : `${localTime(milliseconds)} ${localZone(milliseconds)}`;
  return `<time datetime="${escapeHtml(text)}">${escapeHtml(local)}</time>`;
}
