// The OpenAPI document as one HTML page without scripts and without parts from elsewhere, so that it works offline.
import { escapeHtml } from '../system/html-escape.ts';
import type { OpenApiDocument, OpenApiOperation } from './openapi.ts';

/** The page must not load or run anything, whatever its texts contain. */
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
<p>Version ${escapeHtml(info.version)}. For programs: <a href="/openapi.json">/openapi.json</a>. Every request under /v1 carries
<code>Authorization: Bearer $PARLEY_API_KEY</code>.</p>
</header>
<nav><ul>${links.join('')}</ul></nav>
<main>
${operations.map(({ path, method, operation }) => section(method, path, operation)).join('\n')}
</main>
</html>
`;
}

function section(method: string, path: string, operation: OpenApiOperation): string {
  const parameters = operation.parameters.map((parameter) => [
    `<code>${escapeHtml(String(parameter['name']))}</code> (${parameter['in']})`,
    prose(String(parameter['description'] ?? '')),
  ]);
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    `<code>${status}</code>`,
    prose(String(response['description'])),
  ]);
  return `<section id="${operation.operationId}">
<h2><b>${method}</b> ${escapeHtml(path)}</h2>
<p>${prose(operation.summary)}. ${prose(operation.description)}</p>
${table('Parameters', parameters)}
${details('Request body', operation.requestBody)}
${table('Answers', responses)}
${details('Answer body', operation.responses['200'])}
</section>`;
}

function table(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<h3>${title}</h3><table>${lines.join('')}</table>`;
}

function details(title: string, body: unknown): string {
  const content = (body as { content?: Readonly<Record<string, { schema: unknown }>> } | undefined)?.content;
  return Object.entries(content ?? {})
    .map(
      ([type, { schema }]) =>
        `<details><summary>${title}, ${escapeHtml(type)}</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`,
    )
    .join('');
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
