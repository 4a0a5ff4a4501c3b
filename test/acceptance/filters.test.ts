// The filters of sessions: every command that has them selects the same sessions with the same options.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';

let place: PlaceInProcess;
/** The sessions by their names below. */
const ids: Record<string, string> = {};
const middle = () => new Date(between).toISOString();
let between = 0;

async function say(name: string, mode: string): Promise<void> {
  const user = name === 'tagged' || name === 'archived' ? ['--user', 'Jane Doe'] : [];
  const words = ['chat', '-n', ...user, '--title', name, '-m', mode, '--json', `fox ${name}`];
  ids[name] = JSON.parse(await place.output(words)).data.session_id;
}

beforeAll(async () => {
  place = new PlaceInProcess();
  await say('plain', 'echo');
  await say('other', 'eliza');
  between = Date.now() + 1;
  while (Date.now() <= between);
  for (const name of ['tagged', 'pinned', 'archived', 'deleted']) await say(name, 'echo');
  const change = (...words: readonly string[]) => place.output(['sessions', ...words, '--yes']);
  await change('tag', ids['tagged'] ?? '', '+work');
  await change('tag', ids['archived'] ?? '', '+work');
  await change('pin', ids['pinned'] ?? '');
  await change('archive', ids['archived'] ?? '');
  await place.output(['sessions', 'delete', ids['deleted'] ?? '']);
}, 60_000);
afterAll(() => place.remove());

const namesOf = (found: Iterable<string>) =>
  Object.entries(ids)
    .filter(([, id]) => new Set(found).has(id))
    .map(([name]) => name);
const idsIn = (text: string) => text.match(/\bses_\w+/g) ?? [];

/** How the output of each command names the selected sessions. */
const commands = {
  list: (filter: readonly string[]) => ['list', '--ids', ...filter],
  search: (filter: readonly string[]) => ['search', ...filter, 'fox'],
  export: (filter: readonly string[]) => ['export', '--format', 'json', ...filter],
  delete: (filter: readonly string[]) => ['delete', '--dry-run', ...filter],
  archive: (filter: readonly string[]) => ['archive', '--dry-run', ...filter],
  tag: (filter: readonly string[]) => ['tag', '--add', 'x', '--dry-run', ...filter],
} as const;

const shown = ['plain', 'other', 'tagged', 'pinned'];
test.each([
  ['--query', 'fox'],
  ['--tag', 'work'],
])(
  'a batch with %s that leaves an archived session out says so, before it changes anything',
  async (...filter) => {
    const notice = 'Archived sessions are left out; 1 would match. To select them instead: --archived\n';
    for (const words of [['delete'], ['pin'], ['tag', '--add', 'x']]) {
      const run = (...more: readonly string[]) => place.parley(['sessions', ...words, ...filter, ...more]);
      expect((await run('--dry-run')).err).toContain(notice);
      expect((await run()).err).toContain(notice);
      expect((await run('--dry-run', '--archived')).err).not.toContain('left out');
    }
    const archive = await place.parley(['sessions', 'archive', ...filter, '--dry-run']);
    expect(archive.err).not.toContain('left out');
  },
);

test('an export that leaves an archived session out says so, also if it matches no other', async () => {
  const notice = 'Archived sessions are left out; 1 would match. To select them instead: --archived\n';
  const run = (...filter: readonly string[]) => place.parley(['sessions', 'export', ...filter]);
  for (const filter of [
    ['--query', 'fox'],
    ['--tag', 'work'],
  ]) {
    const { status, err } = await run(...filter);
    expect([status, err]).toEqual([0, expect.stringContaining(notice)]);
    expect((await run(...filter, '--archived')).err).not.toContain('left out');
  }
  expect((await run('--all')).err).not.toContain('left out');
  expect(await run('--query', '"fox archived"')).toMatchObject({
    ...{ status: 0, out: '', err: `No session matches: nothing was exported.\n${notice}` },
  });
});

test('a batch that matches only an archived session says how to select it', async () => {
  const { status, out, err } = await place.parley([
    'sessions',
    'delete',
    '--query',
    '"fox archived"',
    '--yes',
  ]);
  expect({ status, out, err }).toEqual({
    status: 0,
    out: '',
    err: 'No session matches: nothing was deleted.\nArchived sessions are left out; 1 would match. To select them instead: --archived\n',
  });
});

test.each<[string, () => readonly string[], readonly string[], readonly string[]]>([
  ['--tag', () => ['--tag', 'work'], ['tagged'], ['archived']],
  ['--user', () => ['--user', 'Jane Doe'], ['tagged'], ['archived']],
  ['--user of none', () => ['--user', 'Jane'], [], []],
  ['--user and --archived', () => ['--archived', '--user', 'Jane Doe'], ['archived'], []],
  ['--tag of none', () => ['--tag', 'none'], [], []],
  ['--pinned', () => ['--pinned'], ['pinned'], []],
  ['--no-pinned', () => ['--no-pinned'], shown.filter((name) => name !== 'pinned'), ['archived']],
  ['--archived', () => ['--archived'], ['archived'], []],
  ['--archived and --tag', () => ['--archived', '--tag', 'work'], ['archived'], []],
  ['--mode', () => ['--mode', 'eliza'], ['other'], []],
  ['--mode of most', () => ['--mode', 'echo'], ['plain', 'tagged', 'pinned'], ['archived']],
  ['--newer-than', () => ['--newer-than', middle()], ['tagged', 'pinned'], ['archived']],
  ['--older-than', () => ['--older-than', middle()], ['plain', 'other'], []],
  ['--title-match', () => ['--title-match', '*t*'], ['other', 'tagged'], []],
  ['two conditions', () => ['--mode', 'echo', '--older-than', middle()], ['plain'], []],
])(
  '%s chooses the same sessions for each command, and archived ones too for a search',
  async (_, filter, meant, alsoArchived) => {
    for (const [name, words] of Object.entries(commands)) {
      const out = await place.output(['sessions', ...words(filter())]);
      const found = namesOf(name === 'export' ? exportedIds(out) : idsIn(out));
      const expected = name === 'search' ? [...meant, ...alsoArchived] : meant;
      expect([name, new Set(found)]).toEqual([name, new Set(expected)]);
    }
  },
);

test('--deleted lists the deleted sessions, also with another filter', async () => {
  const listed = async (...words: readonly string[]) =>
    namesOf(idsIn(await place.output(['sessions', 'list', '--ids', '--deleted', ...words])));
  expect(await listed()).toEqual(['deleted']);
  expect(await listed('--mode', 'echo')).toEqual(['deleted']);
  expect(await listed('--mode', 'eliza')).toEqual([]);
  expect(await listed('--tag', 'work')).toEqual([]);
});

/** The ids of the sessions, not of their messages. */
const exportedIds = (out: string) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line): string => JSON.parse(line).session.session_id);
