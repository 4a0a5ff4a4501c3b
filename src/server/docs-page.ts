// The OpenAPI document as one HTML page, without scripts or external resources, so that it works offline.
import { escapeHtml } from '../system/html-escape.ts';
import { curlExample, responseExample } from './docs-examples.ts';
import type { OpenApiBody, OpenApiDocument, OpenApiOperation } from './openapi.ts';

/** Forbids the page to load or run anything, whatever its texts contain. */
export const docsHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const;

export function docsPage({ info, paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const links = operations.map(
    ({ path, method, operation }) =>
      `<li><a href="#${operation.operationId}"><b>${method}</b> ${escapeHtml(path)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}</title>
<style>${style}</style>
<header>
<h1>${escapeHtml(info.title)}</h1>
<p>${prose(info.description)}</p>
<p>Version ${escapeHtml(info.version)}. Machine-readable: <a href="/openapi.json">/openapi.json</a>. Every request under /v1 needs the header
<code>Authorization: Bearer $PARLEY_API_KEY</code>.</p>
</header>
<nav><ul>${links.join('')}<li><a href="#errors">Errors</a></li></ul></nav>
<main>
${operations.map(({ path, method, operation }) => section(method, path, operation)).join('\n')}
<section id="errors">
<h2>Errors</h2>
<p>Each operation lists the error statuses it may return. The body has the same form for all of them. A path that does not exist is 404 <code>NOT_FOUND</code>,
and a method that a path does not support 405 <code>METHOD_NOT_ALLOWED</code>.</p>
${table('', errorRows(operations.map(({ operation }) => operation)))}
</section>
</main>
</html>
`;
}

function section(method: string, path: string, operation: OpenApiOperation): string {
  const parameters = operation.parameters.map((parameter) => [
    `<code>${escapeHtml(String(parameter['name']))}</code> (${parameter['in']})`,
    prose(String(parameter['description'] ?? '')),
  ]);
  const failures = Object.keys(operation.responses).filter((status) => status !== '200');
  return `<section id="${operation.operationId}">
<h2><b>${method}</b> ${escapeHtml(path)}</h2>
<p>${prose(operation.summary)}. ${prose(operation.description)}</p>
<pre>${escapeHtml(curlExample(method, path, operation))}</pre>
<pre>${escapeHtml(responseExample(operation))}</pre>
${table('Parameters', parameters)}
<p><a href="#errors">Errors</a>: ${failures.join(', ')}</p>
${details('Request body', operation.requestBody)}
${details('Response body', operation.responses['200'])}
</section>`;
}

/** Each status once, with the descriptions of all operations. */
function errorRows(operations: readonly OpenApiOperation[]): readonly (readonly string[])[] {
  const descriptions = new Map<string, Set<string>>();
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (status === '200') continue;
      const parts = String(response['description']).split(', ');
      descriptions.set(status, new Set([...(descriptions.get(status) ?? []), ...parts]));
    }
  }
  const rows = [...descriptions].sort(([one], [other]) => Number(one) - Number(other));
  return rows.map(([status, parts]) => [`<code>${status}</code>`, prose([...parts].join(', '))]);
}

function table(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `${title === '' ? '' : `<h3>${title}</h3>`}<table>${lines.join('')}</table>`;
}

function details(title: string, body: OpenApiBody | undefined): string {
  return Object.entries(body?.content ?? {})
    .map(
      ([type, { schema }]) =>
        `<details><summary>${title}, ${escapeHtml(type)}</summary><pre>${escapeHtml(JSON.stringify(schema, withoutTimePattern, 2))}</pre></details>`,
    )
    .join('');
}

/** The pattern of a time has 250 characters and adds nothing to `date-time`. */
function withoutTimePattern(this: unknown, name: string, value: unknown): unknown {
  const { format } = (this ?? {}) as { readonly format?: unknown };
  return name === 'pattern' && format === 'date-time' ? undefined : value;
}

/** Escapes a text for HTML. Words in backticks become code. */
function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; }
nav ul { columns: 18rem; list-style: none; padding: 0; }
nav a { text-decoration: none; }
section { border-top: 1px solid var(--line); padding: .5rem 0 1rem; }
h2 { font: 1.05rem/1.4 ui-monospace, monospace; }
h3 { font-size: .9rem; margin: 1rem 0 .25rem; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
pre { overflow: auto; border: 1px solid var(--line); padding: .75rem; }
table { border-collapse: collapse; }
td { border: 1px solid var(--line); padding: .2rem .6rem; vertical-align: top; }
summary { cursor: pointer; margin: .4rem 0; }
`;
