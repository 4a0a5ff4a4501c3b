// The archive on the command line, embedded and served: searches, listings, exports and imports.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import type { SessionRecord } from '../../src/service/session-archive.ts';
import { expectFailure, expectJsonFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { servePlace } from '../support/served-place.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

/** Returns the id. */
async function talk(...messages: readonly string[]): Promise<string> {
  const id = (await place.output(['sessions', 'create'])).trim();
  for (const message of messages) await place.output(['chat', '-n', '-m', 'echo', '-s', id, '--', message]);
  return id;
}

const stored = async (id: string): Promise<SessionRecord> =>
  JSON.parse(await place.output(['sessions', 'export', id, '--format', 'json']));

describe('sessions search', () => {
  test('in a pipe prints a line per session: id, score, time, role, snippet, title', async () => {
    const id = await talk('the quick\nbrown fox');
    await talk('a lazy dog');
    const { status, out, err } = await place.parley(['sessions', 'search', 'FOX']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const [line = '', ...more] = lines(out);
    expect(more).toEqual([]);
    const [session, score, time, role, snippet, title] = line.split('\t');
    expect({ session, snippet, title }).toEqual({ session: id, snippet: 'the quick brown ⟦fox⟧', title: '' });
    expect(Number(score)).toBeGreaterThan(0);
    expect(time).toMatch(/^\d{4}-.*Z$/);
    expect(role).toMatch(/^(user|assistant)$/);
  });

  test('on a terminal shows hits in colour, the age, and the command that continues a session', async () => {
    const id = await talk('the quick brown fox\u001b[2J');
    const { out } = await place.terminal('parley sessions search --profile local fox');
    expect(out).toContain(`parley chat --profile local -s ${id} "…"`);
    expect(out).toContain('now:');
    expect(out).toContain('brown \u001b[1m\u001b[32mfox');
    expect(out).toContain('\\x1b[2J');
    expect(out).not.toContain('⟦');
    const plain = await place.terminal('parley sessions search fox --no-color');
    expect(plain.out).toContain('brown ⟦fox⟧');
  });

  test('says when nothing is found, and names the command for the next page', async () => {
    for (const text of ["fox o'one", "fox o'two"]) await talk(text);
    expect(await place.parley(['sessions', 'search', 'zebra'])).toMatchObject({
      ...{ status: 0, out: '', err: 'No session matches.\n' },
    });
    expect((await place.parley(['sessions', 'search', 'zebra', '--json'])).err).toBe('');
    const first = await place.parley(['sessions', 'search', '--limit', '1', "fox o'*"]);
    const command = /continue with: (parley .*)\n/.exec(first.err)?.[1] ?? '';
    const second = await place.shell(command);
    expect({ status: second.status, err: second.err }).toEqual({ status: 0, err: '' });
    expect(new Set([first.out, second.out].map((out) => out.split('\t')[0])).size).toBe(2);
  });

  test('refuses a query without a word, in words and as JSON', async () => {
    expectFailure(await place.parley(['sessions', 'search', '++']), { status: 2, code: 'INVALID_REQUEST' });
    const outcome = await place.parley(['sessions', 'search', 'fox "dog', '--json']);
    const error = expectJsonFailure(outcome, { status: 2, code: 'INVALID_REQUEST' });
    expect(error.message).toContain('quotation mark');
  });
});

describe('sessions list', () => {
  test('--ids --json prints an object per line with only the id, which delete reads', async () => {
    const ids = [await talk('a'), await talk('b')];
    const { out } = await place.parley(['sessions', 'list', '--ids', '--json']);
    expect(lines(out).map((line) => JSON.parse(line))).toEqual(
      ids.toReversed().map((session_id) => ({ session_id })),
    );
    expect((await place.parley(['sessions', 'delete', '-', '--yes'], { stdin: out })).status).toBe(0);
  });

  test('--all and --limit together are refused', async () => {
    const outcome = await place.parley(['sessions', 'list', '--all', '--limit', '3']);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
  });

  test('the hint of the next page keeps every filter', async () => {
    for (const title of ["it's one", "it's two", 'other', "it's three"]) {
      await place.output(['sessions', 'create', '--title', title]);
    }
    const seen: string[] = [];
    let command = `parley sessions list --limit 1 --title-match "it's*" --newer-than 1h`;
    for (let page = 0; command !== '' && page < 9; page++) {
      const { out, err } = await place.shell(command);
      seen.push(out.trimEnd().split('\t')[3] ?? '');
      command = /continue with: (parley .*)\n/.exec(err)?.[1] ?? '';
    }
    expect(seen).toEqual(["it's three", "it's two", "it's one"]);
  });

  test('--older-than and --newer-than take ages and dates', async () => {
    const id = await talk('a');
    const list = (...flags: readonly string[]) => place.output(['sessions', 'list', '--ids', ...flags]);
    expect(await list('--older-than', '1h')).toBe('');
    expect(await list('--older-than', '2999-01-01')).toBe(`${id}\n`);
    expect(await list('--newer-than', '30d')).toBe(`${id}\n`);
    expect(await list('--newer-than', '2999-01-01')).toBe('');
    const wrong = await place.parley(['sessions', 'list', '--older-than', 'yesterday']);
    expectFailure(wrong, { status: 2, code: 'USAGE' });
  });
});

describe('sessions messages', () => {
  test('--format json prints a message per line', async () => {
    const id = await talk('one', 'two');
    const messages = lines(await place.output(['sessions', 'messages', id, '--format', 'json']));
    expect(messages.map((line) => JSON.parse(line).content)).toEqual(['one', 'one', 'two', 'two']);
  });

  test('--format applies beside --json and --jq, or is refused', async () => {
    const id = await talk('one', 'two');
    const words = ['sessions', 'messages', id, '--format'];
    expect(await place.output([...words, 'json', '--jq', '.content'])).toBe('one\none\ntwo\ntwo\n');
    expect(await place.output([...words, 'json', '--json'])).toBe(await place.output([...words, 'json']));
    const refused = await place.parley([...words, 'md', '--json']);
    expectJsonFailure(refused, { status: 2, code: 'USAGE' });
  });
});

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
  ])('says if no session matches: %j', async (options, said) => {
    await talk('one');
    const { status, out, err } = await place.parley(['sessions', 'export', '--user', 'nobody', ...options]);
    expect({ status, out, err }).toEqual({ status: 0, out: '', err: said });
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
    const told = Array.from({ length: 20 }, (_, index) => ({
      id: `c${index}`,
      messages: [
        { role: 'user', content: `Question ${index}` },
        { role: 'assistant', content: index === 5 ? 'long '.repeat(100_000) : `Answer ${index}` },
      ],
    }));
    const file = join(place.path, 'lines.jsonl');
    writeFileSync(file, told.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { out } = await place.parley(['sessions', 'import', '--json', file]);
    const ids: string[] = lines(out).map((line) => JSON.parse(line).session_id);
    const asked = ids.toReversed().toSpliced(3, 0, 'ses_missing');
    const outcome = await place.parley(['sessions', 'export', '--format', 'json', '-'], {
      stdin: asked.join('\n'),
    });
    expect(outcome).toMatchObject({ status: 3, err: expect.stringContaining('Session ses_missing:') });
    const records = lines(outcome.out).map((line): SessionRecord => JSON.parse(line));
    expect(records.map(({ session }) => session.session_id)).toEqual(ids.toReversed());
    expect(records.map(({ messages }) => messages[1]?.content)).toEqual(
      told.toReversed().map(({ messages }) => messages[1]?.content),
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

describe('sessions import', () => {
  test('an export is imported by a server and exported again without a change', async () => {
    await talk('Größe 😀 日本語', 'line\r\nbreak\u001b[31m \u202e');
    await place.output(['sessions', 'create', '--title', 'empty']);
    const first = await place.output(['sessions', 'export', '--all', '--format', 'json']);
    const elsewhere = new PlaceInProcess();
    const { key } = await elsewhere.answer<CreatedKey>([
      'keys',
      'create',
      '--project',
      'team',
      '--name',
      'ci',
    ]);
    const served = await servePlace(elsewhere);
    try {
      const env = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
      const imported = await place.parley(['sessions', 'import', '-'], { stdin: first, env });
      expect({ status: imported.status, err: imported.err }).toEqual({
        status: 0,
        err: '2 sessions imported.\n',
      });
      const many = await place.parley(['sessions', 'import', '-'], { stdin: first.repeat(10), env });
      expect({ status: many.status, err: many.err }).toEqual({
        status: 0,
        err: '0 sessions imported, 20 unchanged.\n',
      });
      const second = await place.output(['sessions', 'export', '--all', '--format', 'json'], { env });
      expect(second).toBe(first);
      const back = { PARLEY_DATA_DIR: join(place.path, 'another') };
      await place.output(['sessions', 'import', '-', '--quiet'], { stdin: second, env: back });
      expect(await place.output(['sessions', 'export', '--all', '--format', 'json'], { env: back })).toBe(
        first,
      );
    } finally {
      await served.end('SIGTERM');
      elsewhere.remove();
    }
  });

  test('reads a session per line, an array, and one object over many lines, also with a BOM and CRLF', async () => {
    const id = await talk('a');
    const record = await stored(id);
    const named = (session_id: string) => ({ ...record, session: { ...record.session, session_id } });
    const texts = [
      `\ufeff${JSON.stringify(named('ses_a'))}\r\n\r\n${JSON.stringify(named('ses_b'))}`,
      JSON.stringify([named('ses_c'), named('ses_d')]),
      JSON.stringify([named('ses_e'), named('ses_f')], null, 2),
      JSON.stringify(named('ses_g'), null, 2),
    ];
    const path = join(place.path, 'in.json');
    const seen: string[] = [];
    for (const text of texts) {
      writeFileSync(path, text);
      seen.push(...lines(await place.output(['sessions', 'import', path])));
    }
    expect(seen).toEqual([...'abcdefg'].map((letter) => `imported ses_${letter}`));
    expect((await stored('ses_g')).messages).toEqual(record.messages);
  });

  test('gives each session its result: a failure does not affect the others', async () => {
    const id = await talk('a');
    const record = await stored(id);
    const named = (session_id: string) => ({ ...record, session: { ...record.session, session_id } });
    const wrong = { ...named('ses_wrong'), messages: [] };
    const stdin = [named('ses_a'), wrong, '{"half', named('ses_b')]
      .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
      .join('\n');
    const { status, out, err } = await place.parley(['sessions', 'import', '-'], { stdin });
    expect(status).toBe(3);
    expect(lines(out)).toEqual([
      'imported ses_a',
      'failed ses_wrong INVALID_REQUEST',
      'failed line 3 USAGE',
      'imported ses_b',
    ]);
    expect(err).toContain('session.message_count');
    expect(err).toContain('2 sessions imported, 2 failed.');
  });

  test.each([
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['no JSON', 'hello\nthere\n'],
    ['half of a JSON text', '[\n{"session":'],
    ['a number', '7'],
    ['an empty array', '[]'],
  ])('refuses %s', async (_, stdin) => {
    expectFailure(await place.parley(['sessions', 'import', '-'], { stdin }), { status: 2, code: 'USAGE' });
  });

  test('one refused session is exit 2, and so is a missing file', async () => {
    const refused = await place.parley(['sessions', 'import', '-', '--json'], {
      stdin: '{"session":{},"messages":[]}',
    });
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.out)).toMatchObject({
      session_id: 'item 1',
      status: 'failed',
      error: { code: 'INVALID_REQUEST' },
    });
    const nowhere = await place.parley(['sessions', 'import', 'nowhere.json']);
    expectFailure(nowhere, { status: 2, code: 'USAGE' });
    expect(nowhere.err).toContain('The file nowhere.json cannot be read: there is no such file.');
  });
});
