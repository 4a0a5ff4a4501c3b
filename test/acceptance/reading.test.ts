// Reading at a terminal: lists with titles and local times, rendered sessions, and a pager for long output. Output into pipes does not change.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { attacks, isHarmless, withoutOwnColour } from '../cli/terminal/attacks.ts';
import { hasCommand } from '../support/machine.ts';
import { Place } from '../support/parley.ts';
import type { ScreenOptions, TerminalScreen } from '../support/terminal-screen.ts';

const place = new Place();
const screens: TerminalScreen[] = [];
const long = 'A title of many words that go on and on '.repeat(3).trim();
const reply = '## Heading\n\nSome **bold** words\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';

function record(id: string, title: string, at: string, contents: readonly string[]) {
  const messages = contents.map((content, position) => ({
    ...{ message_id: `msg_${position}`, position, content, mode: 'gpt', usage: null, created_at: at },
    ...(position % 2 === 0
      ? { role: 'user', finish_reason: null }
      : { role: 'assistant', finish_reason: 'stop' }),
  }));
  const session = { session_id: id, title, created_at: at, updated_at: at, message_count: messages.length };
  return JSON.stringify({ session, messages });
}

beforeAll(async () => {
  const hostile = Object.values(attacks)
    .filter((attack) => !attack.includes('\0'))
    .join(' ')
    .toWellFormed();
  const records = [
    record('ses_old_one_abcd1234', long, '2026-01-31T23:30:00.000Z', ['Hi', reply]),
    record('ses_long_wxyz5678', 'Long', '2026-01-30T23:30:00.000Z', [hostile, 'line\n\n'.repeat(60)]),
  ];
  await place.output(['sessions', 'import', '-'], { stdin: records.join('\n') });
  const programs = {
    keeps: `env > '${place.path}/env'; cat > '${place.path}/paged'`,
    dies: 'head -n 1',
  };
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(place.path, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
});
afterEach(() => {
  for (const screen of screens.splice(0)) screen.close();
});
afterAll(() => place.remove());

async function shown(line: string, options: Partial<ScreenOptions> = {}) {
  const env = { TZ: 'Asia/Tokyo', NO_COLOR: '1', PAGER: 'cat', ...options.env };
  const screen = place.lineScreen(line, { rows: 40, columns: 80, ...options, env });
  screens.push(screen);
  const { status } = await screen.ended;
  return { status, screen, rows: screen.text.split('\n') };
}

test('a list fits into 40 to 200 columns: title, local time, mode, messages, end of the id', async () => {
  const widths = [40, 60, 80, 200];
  const lists = await Promise.all(widths.map((columns) => shown('parley sessions list', { columns })));
  for (const [index, { rows }] of lists.entries()) {
    const columns = widths[index] ?? 0;
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(columns);
    const isWide = columns >= 80;
    expect(rows[0]).toMatch(
      isWide ? /^TITLE +LAST ACTIVITY +MODE +MESSAGES +ID$/ : /^TITLE +ACTIVE( +MODE)? +ID$/,
    );
    expect(rows[1]).toMatch(
      isWide ? / {2}2026-02-01 08:30 +gpt +2 +abcd1234$/ : /… {2}2026-02-01 ( gpt {3})? *abcd1234$/,
    );
    expect(rows[1]?.startsWith(long)).toBe(columns === 200);
  }
});

test('--utc and a pipe give the stored times in UTC', async () => {
  const [{ rows }, piped] = await Promise.all([
    shown('parley sessions list --utc', { columns: 120 }),
    shown('parley sessions list | cat', { columns: 200 }),
  ]);
  expect(rows[1]).toContain('  2026-01-31T23:30:00.000Z  ');
  expect(piped.rows[0]).toMatch(/^ses_old_one_abcd1234\s+2\s+2026-01-31T23:30:00.000Z\s+A title/);
});

test('every other command that shows a time does the same', async () => {
  const times = async (words: string) => {
    const commands = ['sessions get abcd1234', 'keys list', 'verify', 'sessions batches'];
    const { rows } = await shown(commands.map((command) => `parley ${command}${words}`).join('; '), {
      columns: 140,
    });
    return rows.filter((row) => /^(created_at|updated_at|key_\d|2\d)/.test(row));
  };
  await place.output(['sessions', 'import', '-'], {
    stdin: [1, 2].map((n) => record(`ses_gone_${n}`, 'Gone', '2026-01-01T00:00:00.000Z', [])).join('\n'),
  });
  await place.output(['sessions', 'delete', '--title-match', 'Gone', '--yes', '--quiet']);
  const local = await times('');
  expect(local.slice(0, 2)).toEqual(['created_at: 2026-02-01 08:30', 'updated_at: 2026-02-01 08:30']);
  expect(local[2]).toMatch(/^key_\w+ +valid +default +local +(now|\d min ago) +all +(now|\d+ min ago)$/);
  expect(local[3]).toMatch(/^created_at: (now|\d min ago)$/);
  expect(local[4]).toMatch(/^2\S+ +(now|\d min ago) +\d +0 +here +(delete|import)$/);
  const inUtc = await times(' --utc');
  expect(inUtc).toHaveLength(7);
  for (const row of inUtc) expect(row).toMatch(/ 2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z( |$)/);
});

test('a session is rendered with the author and time of each message; --markdown never and a pipe give its Markdown', async () => {
  const [{ rows, screen }, plain, always] = await Promise.all([
    shown('parley sessions show abcd1234'),
    shown('parley sessions show abcd1234 --markdown never'),
    place.output(['sessions', 'show', 'abcd1234', '--markdown', 'always']),
  ]);
  expect(rows).toEqual([
    ...['You · 2026-02-01 08:30', 'Hi', '', 'gpt · 2026-02-01 08:30'],
    ...['Heading', '', 'Some bold words', '', 'a │ b', '──┼──', '1 │ 2'],
  ]);
  // Without colour, bold stays.
  expect(screen.bytes).toContain('\x1b[1mbold\x1b[0m');
  expect(plain.rows.slice(0, 3)).toEqual(['## user, 2026-01-31T23:30:00.000Z', '', 'Hi']);
  expect(always).toContain(
    'gpt · 2026-01-31T23:30:00.000Z\n## Heading\n\nSome **bold** words\n\na │ b\n──┼──',
  );
});

test('output that is longer than the screen goes through the pager: filtered, and without the key', async () => {
  const options = { rows: 20, env: { PARLEY_PAGER: 'keeps', NO_COLOR: undefined, PARLEY_STORE: '' } };
  const { status, rows } = await shown('parley sessions messages Long', options);
  expect({ status, rows }).toEqual({ status: 0, rows: [''] });
  const paged = readFileSync(join(place.path, 'paged'), 'utf8');
  expect(isHarmless(withoutOwnColour(paged))).toBe(true);
  expect(paged).toContain('\\x1b');
  expect(paged.match(/^line$/gm)).toHaveLength(60);
  expect(readFileSync(join(place.path, 'env'), 'utf8')).toMatch(/^LESS=FRX$/m);
  expect(readFileSync(join(place.path, 'env'), 'utf8')).not.toMatch(/^PARLEY_STORE=/m);
});

test('a pager that is killed is no failure, and one that cannot be run is reported', async () => {
  const dead = await shown('parley sessions messages Long', { rows: 20, env: { PARLEY_PAGER: 'dies' } });
  expect({ status: dead.status, rows: dead.rows }).toEqual({ status: 0, rows: ['You · 2026-01-31 08:30'] });
  const none = await shown('parley sessions messages Long', {
    rows: 20,
    env: { PARLEY_PAGER: '"nowhere"' },
  });
  expect({ status: none.status, text: none.screen.text }).toEqual({
    status: 0,
    text: expect.stringContaining('The pager "nowhere" cannot be run.'),
  });
});

test('there is no pager for what fits, with TERM=dumb, where nobody may be asked, turned off, or in a pipe', async () => {
  const messages = 'parley sessions messages Long';
  const cases = [
    ['parley sessions list', { PARLEY_PAGER: 'dies' }],
    [messages, { PARLEY_PAGER: 'dies', TERM: 'dumb' }],
    [`${messages} --no-input`, { PARLEY_PAGER: 'dies' }],
    [messages, { PARLEY_PAGER: '', PAGER: 'dies' }],
    [`${messages} | cat`, { PARLEY_PAGER: 'dies' }],
  ] as const;
  for (const { status, rows } of await Promise.all(
    cases.map(([line, env]) => shown(line, { rows: 12, env })),
  )) {
    expect(status).toBe(0);
    expect(rows.length).toBeGreaterThan(2);
  }
});

test.runIf(hasCommand('less'))('less gets the keys, and restores the terminal', async () => {
  const env = { NO_COLOR: '1', PAGER: undefined, LESS: undefined };
  const screen = place.lineScreen('parley sessions messages Long; echo left', { rows: 12, columns: 60, env });
  screens.push(screen);
  await screen.until('less waits', () => screen.cursorRow.startsWith(':'));
  // less reads Ctrl-C as a key. The terminal drops other keys of the same moment.
  screen.type('\x03');
  await screen.until('left', () => {
    screen.type('q');
    return screen.text.includes('left');
  });
  expect((await screen.ended).status).toBe(0);
});

test.runIf(hasCommand('less'))('/history uses the pager, and the prompt gets the keys back', async () => {
  const env = { NO_COLOR: '1', PAGER: undefined };
  const screen = place.screen(['repl', '-m', 'echo', '-s', 'long'], { rows: 12, columns: 60, env });
  screens.push(screen);
  await screen.stands('echo (Long)> ');
  screen.type('/history\r');
  await screen.until('less waits', () => screen.cursorRow.startsWith(':'));
  screen.type('q');
  await screen.stands('echo (Long)> ');
  screen.type('on we go\r');
  await screen.until('answered', () => screen.text.endsWith('\non we go\n\necho (Long)>'));
  screen.type('\x04');
  expect((await screen.ended).status).toBe(0);
});
