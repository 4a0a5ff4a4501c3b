// Exports on the command line: the formats, the target, and several sessions at once.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SessionRecord } from '../../src/service/session-archive.ts';
import { echoSession, exportedRecord } from '../support/echo-session.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

const talk = (...messages: readonly string[]) => echoSession(place, messages);
const stored = (id: string) => exportedRecord(place, id);

describe('sessions export', () => {
  test('writes Markdown with a heading for each message', async () => {
    const id = await talk('What is `x`?');
    const out = await place.output(['sessions', 'export', id]);
    expect(out).toMatch(/^# Session\n\n`ses_/);
    expect(out.match(/^## (user|assistant \(echo\)), /gm)).toHaveLength(2);
    expect(out.match(/^What is `x`\?$/gm)).toHaveLength(2);
  });

  test.each([
    [[], 'No session matches: nothing was exported.\n'],
    [['-o', 'none.md'], 'No session matches: nothing was exported.\n'],
  ])('says if no session matches: %j', async (options, problem) => {
    await talk('one');
    const { status, out, err } = await place.parley(['sessions', 'export', '--user', 'nobody', ...options]);
    expect({ status, out, err }).toEqual({ status: 0, out: '', err: problem });
  });

  test('writes a page with the messages as text, which loads and runs nothing', async () => {
    const hostile =
      '<script>alert(0)</script>\n\n<b>And</b> <script>alert(1)</script> [x](javascript:alert(2)) ![y](https://example.org/spy.png) **bold**\n\n```js\nlet a = "<b>";\n```';
    const id = await talk(hostile);
    const page = await place.output(['sessions', 'export', id, '--format', 'html']);
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/<script|<img|<link|javascript:alert\(2\)["']|@import|url\(/);
    expect(page).toContain('<p class="typed">&lt;script&gt;alert(0)&lt;/script&gt;</p>');
    expect(page).toContain('<p>&lt;b&gt;And&lt;/b&gt; &lt;script&gt;alert(1)&lt;/script&gt; x <a ');
    expect(page).toContain('<strong>bold</strong>');
    expect(page).toContain(
      '<pre><code class="language-js"><span class="hl-keyword">let</span> a = <span class="hl-string">&quot;&lt;b&gt;&quot;</span>;',
    );
    expect(page.trimEnd().endsWith('</html>')).toBe(true);
  });

  test('keeps the emphasis of a reply and the alignment of its columns', async () => {
    const id = await talk('*so*\n\n| n |\n| ---: |\n| 1 |');
    const page = await place.output(['sessions', 'export', id, '--format', 'html']);
    expect(page).toContain('<em>so</em>');
    expect(page).toContain('<td align="right">1</td>');
    const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? '';
    // A rule for an element that browsers style themselves would override it.
    expect(style).not.toMatch(/\b(em|i|strong|b)\b[^{}]*\{/);
    expect(style).not.toMatch(/\btd\b[^{}]*\{[^}]*text-align/);
  });

  test('writes a complete private file, and replaces an existing one only with --force', async () => {
    const id = await talk('a');
    const path = join(place.path, 'out.json');
    const args = ['sessions', 'export', id, '--format', 'json', '--output', path];
    expect(await place.parley(args)).toMatchObject({ status: 0, out: `exported ${id}\n` });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(await stored(id));
    writeFileSync(path, 'mine');
    expectFailure(await place.parley(args), { status: 2, code: 'USAGE' });
    expect(readFileSync(path, 'utf8')).toBe('mine');
    await place.output([...args, '--force']);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(await stored(id));
    expect(readdirSync(place.path).filter((name) => name.includes('part'))).toEqual([]);
  });

  test('takes its format from the extension of the file, and writes to stdout for -', async () => {
    const id = await talk('a');
    const written = async (name: string, ...more: string[]) => {
      const path = join(place.path, name);
      await place.output(['sessions', 'export', id, '-o', path, ...more]);
      return readFileSync(path, 'utf8');
    };
    expect(await written('a.html')).toMatch(/^<!doctype html>/i);
    expect(JSON.parse(await written('a.JSON'))).toEqual(await stored(id));
    expect(JSON.parse(await written('a.jsonl'))).toEqual(await stored(id));
    expect(await written('a.md')).toMatch(/^# /);
    expect(await written('a.txt')).toMatch(/^# /);
    expect(JSON.parse(await written('b.html', '--format', 'json'))).toEqual(await stored(id));
    expect(await place.output(['sessions', 'export', id, '-o', '-'])).toBe(await written('b.md'));
    expect(existsSync('-')).toBe(false);
  });

  test('refuses a target without a file name before it exports a session', async () => {
    const outcome = await place.parley(['sessions', 'export', await talk('a'), '--output', '']);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain('--output');
  });

  test('makes a file for each session in a directory', async () => {
    const ids = [await talk('a'), await talk('b')];
    const directory = join(place.path, 'exports');
    mkdirSync(directory);
    const { out } = await place.parley([
      'sessions',
      'export',
      '--all',
      '-o',
      directory,
      '--format',
      'html',
      '--json',
    ]);
    expect(lines(out).map((line) => JSON.parse(line))).toEqual(
      ids.map((session_id) => ({
        ...{ session_id, status: 'exported', file: join(directory, `${session_id}.html`) },
      })),
    );
    expect(readdirSync(directory).sort()).toEqual(['index.html', ...ids.map((id) => `${id}.html`).sort()]);
  });

  test('keeps the order of many sessions, with a long and a missing one among them', async () => {
    const conversations = Array.from({ length: 20 }, (_, index) => ({
      id: `c${index}`,
      messages: [
        { role: 'user', content: `Question ${index}` },
        { role: 'assistant', content: index === 5 ? 'long '.repeat(100_000) : `Answer ${index}` },
      ],
    }));
    const file = join(place.path, 'lines.jsonl');
    writeFileSync(file, conversations.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { out } = await place.parley(['sessions', 'import', '--json', file]);
    const ids: string[] = lines(out).map((line) => JSON.parse(line).session_id);
    const exportedIds = ids.toReversed().toSpliced(3, 0, 'ses_missing');
    const outcome = await place.parley(['sessions', 'export', '--format', 'json', '-'], {
      stdin: exportedIds.join('\n'),
    });
    expect(outcome).toMatchObject({ status: 3, err: expect.stringContaining('Session ses_missing:') });
    const records = lines(outcome.out).map((line): SessionRecord => JSON.parse(line));
    expect(records.map(({ session }) => session.session_id)).toEqual(ids.toReversed());
    expect(records.map(({ messages }) => messages[1]?.content)).toEqual(
      conversations.toReversed().map(({ messages }) => messages[1]?.content),
    );
  });

  test('of a missing session is exit 5 and no file; of several sessions, exit 3 and a file with the others', async () => {
    const id = await talk('a');
    const path = join(place.path, 'out.md');
    const alone = await place.parley(['sessions', 'export', 'ses_never', '-o', path]);
    expectFailure(alone, { status: 5, code: 'SESSION_NOT_FOUND' });
    expect(existsSync(path)).toBe(false);
    const { status, out, err } = await place.parley(['sessions', 'export', 'ses_never', id, '-o', path]);
    expect({ status, out }).toEqual({ status: 3, out: `not_found ses_never\nexported ${id}\n` });
    expect(err).toContain('1 session exported, 1 failed.');
    expect(readFileSync(path, 'utf8')).toContain(id);
  });
});

test.runIf(existsSync('/dev/full'))(
  'an export onto a full disk ends at the first session, with one error',
  async () => {
    const all = ['sessions', 'export', '--all', '--format', 'json'].join(' ');
    await talk('one');
    await talk('two');
    const { status, err } = await place.shell(`parley ${all} > /dev/full`);
    expect(status).toBe(7);
    expect(err.match(/could not be written/g)).toHaveLength(1);
  },
);

test('of many failures the first are explained; with --verbose all are', async () => {
  const ids = Array.from({ length: 30 }, (_, number) => `ses_missing_${number}`);
  const words = ['sessions', 'export', ...ids, '-o', join(place.path, 'missing')];
  const explained = ({ err }: { readonly err: string }) => err.match(/^Session ses_missing_\d+:$/gm)?.length;
  const short = await place.parley(words);
  expect(short.out.match(/^not_found /gm)).toHaveLength(30);
  expect(explained(short)).toBe(20);
  expect(short.err).toContain('10 more failures not explained; --verbose explains all.\n');
  const whole = await place.parley([...words, '--verbose']);
  expect(explained(whole)).toBe(30);
  expect(whole.err).not.toContain('not explained');
});
