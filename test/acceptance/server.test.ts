// A real server and a client that logs in from elsewhere.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { serve } from '../support/scripted-server.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

let serving: PlaceInProcess;
let server: ServedPlace;
let key: string;
let guest: PlaceInProcess;

beforeAll(async () => {
  serving = new PlaceInProcess();
  server = await servePlace(serving);
  key = (await serving.output(['keys', 'create', '--project', 'team', '--quiet'])).trim();
});
afterAll(async () => {
  await server.end('SIGTERM');
  serving.remove();
});
beforeEach(() => {
  guest = new PlaceInProcess();
});
afterEach(() => guest.remove());

const login = () =>
  guest.parley(['login', '--url', server.url, '--profile', 'team', '--key-stdin'], { stdin: `${key}\n` });

test('a login verifies the key, shows its project and stores it, and a conversation continues', async () => {
  const { status, out, err } = await login();
  expect(status).toBe(0);
  expect(out).toContain('project_name: team\n');
  expect(out + err).not.toContain(key);
  await guest.output(['chat', '-n', 'My name is Ada.']);
  expect(await guest.output(['chat', '-n', '-c', 'What is my name?'])).toContain('Ada');
  const [line = ''] = (await guest.output(['sessions', 'list'])).split('\n');
  expect(line.split('\t')[1]).toBe('4');
  const stored = JSON.parse(readFileSync(guest.configFile, 'utf8'));
  expect(stored.profiles.team).toMatchObject({ url: server.url, key, mode: 'eliza' });
  const extensions = [
    'archive',
    'idempotency',
    'lines',
    'mode',
    'order',
    'schema',
    'settings',
    'stream',
    'sync',
    'users',
  ];
  expect(stored.profiles.team.extensions.sort()).toEqual(extensions);
});

test('the id of a request does not reveal how many requests the server has received', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 4; count++) {
    const { headers } = await fetch(`${server.url}/v1/models`);
    ids.push(headers.get('parley-request-id') ?? '');
  }
  // Random ids share their first six characters in one of two million runs.
  expect(new Set(ids.map((id) => id.slice(0, 'req_'.length + 6))).size).toBe(ids.length);
});

test('a key that the server refuses is not stored', async () => {
  const refused = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
  const words = ['login', '--url', server.url, '--profile', 'team', '--key-stdin'];
  expectFailure(await guest.parley(words, { stdin: refused }), { status: 4, code: 'INVALID_API_KEY' });
  expect(await guest.output(['profiles', 'list'])).toBe('*\tlocal\tembedded\t\n');
});

test.each([
  ['of no characters', ''],
  ['of two words', 'one two'],
])('a key %s is refused before anything is sent', async (_, text) => {
  const words = ['login', '--url', server.url, '--key-stdin'];
  expectFailure(await guest.parley(words, { stdin: text }), { status: 2, code: 'USAGE' });
});

test('input that is not a key is reported as such', async () => {
  const words = ['login', '--url', server.url, '--key-stdin'];
  for (const stdin of [Buffer.alloc(20_000, 'k'), Buffer.from([0xff]), 'a\0b', `${key}\n${key}\n`]) {
    const outcome = await guest.parley(words, { stdin });
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toBe(
      'parley: That is not a key. (USAGE)\nA key is one word of printable ASCII characters. Nothing was stored.\n',
    );
  }
});

test('a name that no profile can have is refused before the key is asked for', async () => {
  for (const name of ['', '../x', '-x', 'local']) {
    const words = ['login', '--url', server.url, `--profile=${name}`];
    const outcome = await guest.terminal(
      `parley ${words.map((word) => `'${word}'`).join(' ')}; echo "status $?"`,
    );
    expect(outcome.out).toContain('status 2');
    expect(outcome.out).toContain('(USAGE)');
    expect(outcome.out).not.toContain('Key for');
  }
});

test('the advice after a refused key works as it stands, also without an existing profile', async () => {
  const words = ['login', '--url', server.url, '--profile', 'new', '--key-stdin'];
  const { err } = await guest.parley(words, { stdin: 'wrong' });
  const [, advice = ''] = /Log in with another key: (.*)\n/.exec(err) ?? [];
  const outcome = await guest.shell(`echo '${key}' | ${advice} --key-stdin`);
  expect(outcome.status).toBe(0);
  // An existing profile needs no URL.
  const known = await guest.parley(['login', '--profile', 'new', '--key-stdin'], { stdin: 'wrong' });
  expect(known.err).toContain('Log in with another key: parley login --profile new\n');
});

test('without a terminal a login names the option that takes the key', async () => {
  const { status, err } = await guest.parley(['login', '--url', server.url]);
  expect(status).toBe(2);
  expect(err).toContain('--key-stdin');
});

test('the places of replies at another server are given at the login, and stored', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    '/v1/auth/verify': { success: true },
    '/v1/models': { success: true, data: [{ name: 'only' }] },
    '/v1/chat': { success: true, session_id: 's1', data: { text: 'not this' }, out: [{ words: 'Found.' }] },
  };
  const stranger = await serve(({ path }, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[path]));
  });
  try {
    const words = ['login', '--url', stranger.url, '--profile', 'odd', '--key-stdin'];
    await guest.output([...words, '--reply-pointer', '/out/0/words'], { stdin: 'k' });
    await guest.output(words, { stdin: 'k2' });
    expect(await guest.output(['chat', '-n', 'Hello'])).toBe('Found.\n');
  } finally {
    await stranger.close();
  }
});

test.each([
  [
    'that is none',
    ['--url', 'http://127.0.0.1:9', '--reply-pointer', 'data.text'],
    'not a JSON Pointer: data.text',
  ],
  ['for the store on this machine', ['--reply-pointer', '/data/text'], '--url'],
])('a pointer to replies %s is refused before anything is sent', async (_, words, problem) => {
  const { status, err } = await guest.parley(['login', '--key-stdin', ...words], { stdin: 'k' });
  expect(status).toBe(2);
  expect(err).toContain(problem);
});

test('a logout removes the key and keeps the URL; a removal of the profile removes both', async () => {
  await login();
  await guest.output(['logout']);
  expectFailure(await guest.parley(['verify']), { status: 4, code: 'NO_API_KEY' });
  expect(readFileSync(guest.configFile, 'utf8')).not.toContain(key);
  await guest.output(['profiles', 'remove', 'team']);
  expect(await guest.output(['profiles', 'list'])).toBe('*\tlocal\tembedded\t\n');
});

test('a logout from the store on this machine says that it has no login', async () => {
  expectFailure(await guest.parley(['logout']), { status: 2, code: 'USAGE' });
  expectFailure(await guest.parley(['profiles', 'remove', 'local']), { status: 2, code: 'USAGE' });
});

test('doctor shows the connection to the server, and its features', async () => {
  await login();
  const out = await guest.output(['doctor'], { env: { NO_PROXY: 'x' } });
  expect(out).toMatch(new RegExp(`service +${server.url}`));
  expect(out).toMatch(/proxy +from NO_PROXY/);
  expect(out).toMatch(/access +project team, key key_\w+, in \d+ ms/);
  expect(out).toMatch(/offers +archive, idempotency, stream, settings, lines, schema, order/);
});

test('--debug prints a curl command without the key, and it works', async () => {
  await login();
  const { err } = await guest.parley(['--debug', 'verify']);
  const command = err.split('\n').find((line) => line.startsWith('curl ')) ?? '';
  expect(command).toContain('$PARLEY_API_KEY');
  expect(err).not.toContain(key);
  const answered = await guest.shell(command, { PARLEY_API_KEY: key });
  expect(JSON.parse(answered.out)).toMatchObject({ success: true, data: { project_name: 'team' } });
});

test('verify prints its lines in the same order for a server and for the store on this machine', async () => {
  await login();
  const names = async (profile: string) =>
    (await guest.output(['verify', '--profile', profile])).replace(/: .*/g, '');
  expect(await names('local')).toBe(await names('team'));
});

test('the commands for the owner of a store are refused for a server', async () => {
  await login();
  expectFailure(await guest.parley(['keys', 'list']), { status: 1, code: 'UNSUPPORTED' });
});
