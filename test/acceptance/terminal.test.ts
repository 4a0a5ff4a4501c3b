// Output at a terminal: tables, hints, colour unless it is turned off, and no text that can control the terminal.
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewSession, Page, Session } from '../../src/service/session.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
let id = '';
beforeAll(async () => {
  id = (await place.output(['sessions', 'create', '--title', 'p\u202ex'])).trimEnd();
});
afterAll(() => place.remove());

const esc = '\u001b';

test('a listing is a table with titles, in bold where there is colour', async () => {
  const [shown, ...without] = await Promise.all([
    place.terminal('parley sessions list'),
    place.terminal('parley sessions list', { NO_COLOR: '1' }),
    place.terminal('parley sessions list --no-color'),
    place.terminal('parley sessions list', { TERM: 'dumb' }),
  ]);
  expect(shown.out).toContain(`${esc}[1m`);
  const plain = stripVTControlCharacters(shown.out);
  expect(plain).toMatch(/^TITLE +LAST ACTIVITY +MODE +MESSAGES +ID\n\S+ +now +0 +\w{8}\n/);
  expect(without.map(({ out }) => out)).toEqual([plain, plain, plain]);
});

test('the help fits the width of a terminal; elsewhere it is 80 columns wide', async () => {
  const pages = async (columns: number) => {
    const page = async (words: string) => (await place.terminal(`stty cols ${columns}; parley ${words}`)).out;
    return Promise.all(['help', '--help', '-h'].map(page));
  };
  const [help, ...others] = await Promise.all([
    place.output(['help']),
    place.output(['--help']),
    place.output(['-h']),
    place.shell('parley --help > page; cat page').then(({ out }) => out),
    ...(await pages(80)),
  ]);
  expect(new Set(others)).toEqual(new Set([help]));
  for (const columns of [50, 132]) {
    const same = new Set(await pages(columns));
    expect(same.size).toBe(1);
    expect(same).not.toContain(help);
  }
});

test('FORCE_COLOR colours a pipe', async () => {
  expect(await place.output(['doctor'], { env: { FORCE_COLOR: '1' } })).toContain(`${esc}[32mok`);
  expect(await place.output(['doctor'])).not.toContain(esc);
});

test('the first reply of a session is followed by the session and the command that continues it, on stderr', async () => {
  const { status, out } = await place.terminal('parley chat -m echo hi 2>talk; cat talk', { NO_COLOR: '1' });
  expect({ status, out }).toEqual({
    status: 0,
    out: expect.stringMatching(/^hi\nsession ses_\w{26}, continue with: parley chat -c "…"\n$/),
  });
  expect((await place.terminal('parley chat -m echo hi --quiet')).out).toBe('hi\n');
  const continued = 'parley chat --quiet -m echo one && parley chat -c two';
  expect((await place.terminal(continued)).out).toBe('one\ntwo\n');
  const copied = await place.terminal(`${continued} && parley chat -c --fork three`, { NO_COLOR: '1' });
  expect(copied.out).toMatch(
    /^one\ntwo\nContinuing in a copy of .*\nthree\nsession ses_\w{26}, continue with: /s,
  );
});

describe('dangerous characters', () => {
  const text = `a${esc}[2J\u0007\u009b31m\u202eb\r\nc`;
  const visible = 'a\\x1b[2J\\x07\\x9b31m\\u{202e}b\nc\n';

  test('of a reply are visible on a terminal, exact in a pipe, escaped in JSON', async () => {
    const stdin = text;
    const [pipe, json] = await Promise.all([
      place.output(['chat', '-m', 'echo'], { stdin }),
      place.output(['chat', '-m', 'echo', '--json'], { stdin }),
    ]);
    expect(pipe).toBe(`${text}\n`);
    expect(JSON.parse(json).data.reply).toBe(text);
    expect(json).toMatch(/^[\x20-\x7e]*\n$/);
    expect(json).toContain('\\u001b[2J\\u0007\\u009b31m\\u202e');
    const session = JSON.parse(json).data.session_id;
    const reply = await place.terminal(`printf %s '${text}' | parley chat --quiet -m echo`);
    const transcript = await place.terminal(`parley sessions messages ${session}`, { NO_COLOR: '1' });
    expect(reply.out).toBe(visible);
    expect(transcript.out).toBe(`You · now\n${visible}\necho · now\n${visible}`);
    expect(transcript.out).not.toContain(esc);
  });

  test('of a title are visible on a terminal, exact in a pipe, escaped in JSON', async () => {
    const [list, get, pipe, json] = await Promise.all([
      place.terminal('parley sessions list --title-match "p?x"', { NO_COLOR: '1' }),
      place.terminal(`parley sessions get ${id}`),
      place.output(['sessions', 'list', '--title-match', 'p?x']),
      place.output(['sessions', 'get', id, '--json']),
    ]);
    expect(list.out).toContain('p\\u{202e}x');
    expect(get.out).toContain('title: p\\u{202e}x\n');
    expect(pipe).toContain('\tp\u202ex\n');
    expect(json).toContain('"p\\u202ex"');
  });
});

describe('several deletions', () => {
  async function three(): Promise<readonly string[]> {
    const made = [1, 2, 3].map(() => place.answer<NewSession>(['sessions', 'create']));
    return (await Promise.all(made)).map(({ session_id }) => session_id);
  }

  async function left(ids: readonly string[]): Promise<number> {
    const { items } = await place.answer<Page<Session>>(['sessions', 'list', '--limit', '200']);
    return items.filter(({ session_id }) => ids.includes(session_id)).length;
  }

  test('are confirmed with their count and store, and done after a yes', async () => {
    const ids = await three();
    const typing = [{ after: 'Delete these 3 sessions?', keys: 'y\r' }];
    const { status, out } = await place.terminal(`parley sessions delete ${ids.join(' ')}`, {}, typing);
    expect(status).toBe(0);
    expect(out).toContain('3 sessions of project default, in the store on this machine (profile local):');
    expect(out).toContain(`${ids[2]}  (no title), 0 messages, last active now\n`);
    expect(out).toContain('3 sessions deleted.\n');
    expect(await left(ids)).toBe(0);
  });

  test.each([
    ['a no', 'n\r', 2],
    ['nothing but Enter', '\r', 2],
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-D', '\u0004', 130],
  ])('are not done after %s', async (_name, keys, expected) => {
    const ids = await three();
    const typing = [{ after: 'Delete these 3 sessions?', keys }];
    const { status, out } = await place.terminal(`parley sessions delete ${ids.join(' ')}`, {}, typing);
    expect(status).toBe(expected);
    expect(out).not.toContain('INTERNAL_ERROR');
    expect(await left(ids)).toBe(3);
  });

  test('need no confirmation with --yes, and are refused without it if nobody may be asked', async () => {
    const ids = await three();
    for (const [words, env] of [
      ['--no-input', {}],
      ['', { CI: '1' }],
    ] as const) {
      const refused = await place.terminal(`parley sessions delete ${ids.join(' ')} ${words}`, env);
      expect(refused.status).toBe(2);
      expect(refused.out).toContain('--yes');
    }
    expect(await left(ids)).toBe(3);
    const { status } = await place.terminal(`parley sessions delete ${ids.join(' ')} --yes`);
    expect(status).toBe(0);
  });
});

test('Ctrl-C while a message is awaited ends with 130', async () => {
  const typing = [{ after: 'ready', keys: '\u0003' }];
  const script =
    'mkfifo silent; sleep 30 > silent & (sleep 0.5; echo ready) & parley chat -m echo < silent; echo "status $?"';
  const { out } = await place.terminal(`trap : INT; ${script}; kill %1`, {}, typing);
  expect(out).toContain('status 130');
});

test('parley alone at a terminal shows its help if nobody may be asked', async () => {
  for (const [script, env] of [
    ['parley --no-input', {}],
    ['parley', { CI: '1' }],
    ['parley | cat', {}],
  ] as const) {
    const { status, out } = await place.terminal(script, env);
    expect(status).toBe(0);
    expect(out).toMatch(/^Usage: parley /);
  }
});
