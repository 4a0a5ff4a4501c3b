// A page is made of whatever a reply holds, without taking minutes or the memory of the machine.
import { expect, test } from 'vitest';
import { HtmlPage } from '../../../src/cli/transcripts/html.ts';

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
    const begun = performance.now();
    const text = page(`${reply}end`);
    expect(performance.now() - begun).toBeLessThan(4000);
    expect(text).toContain('end');
    expect(text.length).toBeGreaterThan(reply.length);
  },
);

test('a long paragraph is shown as it stands, and the Markdown around it as Markdown', () => {
  const long = `*a* <b> ${'word '.repeat(1000)}`.trim();
  const text = page(`# Title\n\n${long}\n\n- **one**\n\n\`\`\`\n${'x'.repeat(9000)}\n\`\`\`\n`);
  expect(text).toContain('<h1>Title</h1>');
  expect(text).toContain(`<p>${long.replace('<b>', '&lt;b&gt;')}</p>`);
  expect(text).toContain('<strong>one</strong>');
  expect(text).toMatch(/<pre><code>x{9000}/);
});
