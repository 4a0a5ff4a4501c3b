// A page is made of any reply in bounded time and memory.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { localTime, localZone } from '../../../src/cli/shown-time.ts';
import { HtmlPage } from '../../../src/cli/transcripts/html.ts';
import { sessionIndex, timeElement } from '../../../src/cli/transcripts/html-index.ts';
import { style } from '../../../src/cli/transcripts/html-style.ts';
import { processorMs } from '../../support/processor-time.ts';

const longest = 199_000;

function page(content: string): string {
  const at = '2026-01-31T00:00:00.000Z';
  return new HtmlPage().session({
    session: { session_id: 'ses_1', title: null, created_at: at, updated_at: at, message_count: 1 },
    messages: [
      {
        message_id: 'msg_1',
        position: 0,
        role: 'assistant',
        content,
        mode: 'm',
        finish_reason: 'stop',
        usage: null,
        created_at: at,
      },
    ],
  });
}

test.each(['!', 'a_', '- ', '1. ', '> ', `${'> '.repeat(1000)}\n`])(
  'a reply that repeats %j is shown within seconds',
  (unit) => {
    const reply = unit.repeat(longest / unit.length);
    const begun = processorMs();
    const text = page(`${reply}end`);
    expect(processorMs() - begun).toBeLessThan(4000);
    expect(text).toContain('end');
    expect(text.length).toBeGreaterThan(reply.length);
  },
);

test('a long paragraph is shown as plain text, and the Markdown around it as Markdown', () => {
  const long = `*a* <b> ${'word '.repeat(1000)}`.trim();
  const text = page(`# Title\n\n${long}\n\n- **one**\n\n\`\`\`\n${'x'.repeat(9000)}\n\`\`\`\n`);
  expect(text).toContain('<h1>Title</h1>');
  expect(text).toContain(`<p>${long.replace('<b>', '&lt;b&gt;')}</p>`);
  expect(text).toContain('<strong>one</strong>');
  expect(text).toMatch(/<pre><code>x{9000}/);
});

test('code has colours, and its content stays text', () => {
  const text = page(
    '```js\nconst a = "<script>alert(1)</script>"; // </code>\n```\n\n```"><script>x\nplain & <b>\n```\n',
  );
  expect(text).toContain('<span class="hl-keyword">const</span>');
  expect(text).toContain('<span class="hl-string">&quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;</span>');
  expect(text).toContain('<pre><code>plain &amp; &lt;b&gt;\n</code></pre>');
  expect(text).not.toMatch(/<script|<b>/);
  // The style defines all classes of the page.
  const classes = new Set([...text.matchAll(/class="(hl-[\w-]+)"/g)].map(([, name]) => name));
  for (const name of classes) expect(style).toContain(`.${name}`);
});

test('times are local, with their zone', () => {
  const at = '2026-01-31T00:00:00.000Z';
  const local = `${localTime(Date.parse(at))} ${localZone(Date.parse(at))}`;
  expect(local).toMatch(/^2026-0[12]-\d\d \d\d:\d\d [+-]\d\d:\d\d$/);
  expect(page('x')).toContain(`<time datetime="${at}">${local}</time>`);
  expect(timeElement('"><script>')).toBe(
    '<time datetime="&quot;&gt;&lt;script&gt;">&quot;&gt;&lt;script&gt;</time>',
  );
});

test('the words of a table are not broken on the screen and in print', () => {
  const rules = [...style.matchAll(/(?:^|[ }])table \{([^}]*)\}/gm)].map(([, rule]) => rule);
  expect(rules).toEqual([
    expect.stringContaining('overflow-wrap: normal'),
    expect.stringMatching(/overflow: visible.*overflow-wrap: break-word/),
  ]);
});

test('a page of several sessions has an index whose filter is its only script, allowed by its hash', () => {
  const html = new HtmlPage();
  const session = (title: string) => ({
    session: { session_id: 'ses_1', title, created_at: 'x', updated_at: 'x', message_count: 0 },
    messages: [],
  });
  const hostile = '</a></li><script>alert(1)</script><img src=x onerror=alert(2)>"\'';
  const text =
    html.begin('Sessions', true) + html.session(session(hostile)) + html.session(session('b')) + html.end();
  const scripts = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) => script ?? '');
  expect(scripts).toHaveLength(1);
  expect(text.match(/<script/g)).toHaveLength(1);
  const hash = createHash('sha256')
    .update(scripts[0] ?? '')
    .digest('base64');
  expect(text).toContain(
    `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'; base-uri 'none'`,
  );
  expect(text).not.toMatch(/<img|<\w[^>]* on\w+=|src=(?!x onerror)|https?:/);
  expect(text.match(/&lt;\/a&gt;&lt;\/li&gt;&lt;script&gt;/g)?.length).toBe(2);
  expect(new HtmlPage().begin('One', false)).not.toContain('script-src');
});

test('the filter of the index hides the entries that lack a word', () => {
  const html = new HtmlPage();
  const script = /<script>([\s\S]*?)<\/script>/.exec(html.begin('', true) + sessionIndex([]))?.[1] ?? '';
  const entries = ['Trip to Rome 2026-01-31', 'Rent 2026-02-01'].map((textContent) => ({
    textContent,
    hidden: false,
  }));
  let input = () => {};
  const field = {
    value: '',
    parentElement: { hidden: true },
    addEventListener: (_: string, act: () => void) => {
      input = act;
    },
  };
  const document = { querySelector: () => field, querySelectorAll: () => entries };
  new Function('document', script)(document);
  expect(field.parentElement.hidden).toBe(false);
  const hidden = (value: string) => {
    field.value = value;
    input();
    return entries.map((entry) => entry.hidden);
  };
  expect(hidden('ROME trip')).toEqual([false, true]);
  expect(hidden('2026-02')).toEqual([true, false]);
  expect(hidden('')).toEqual([false, false]);
});
