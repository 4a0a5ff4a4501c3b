// Modes in a PostgreSQL that several machines share: added on one, used by the servers and commands of all. The file of modes of one server takes
// precedence there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { modesInStore } from '../../src/compose/modes-in-store.ts';
import { ModeRepository } from '../../src/config/mode-repository.ts';
import type { ModeSettings } from '../../src/service/mode-settings.ts';
import { openPostgresModes } from '../../src/store/postgres/open.ts';
import { expectFailure } from '../support/failures.ts';
import { openPacedModel, type PacedModel } from '../support/paced-model.ts';
import type { RunOptions } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

let database: PostgresServer;
let model: PacedModel;
/** Two machines. */
let here: PlaceInProcess;
let there: PlaceInProcess;

beforeAll(async () => {
  database = await startPostgres([]);
  model = await openPacedModel();
  here = new PlaceInProcess();
  there = new PlaceInProcess();
}, 60_000);
afterAll(async () => {
  here.remove();
  there.remove();
  await model.close();
  await database.stop();
});

const address = (schema: string) =>
  `postgres://${database.user}@127.0.0.1:${database.port}/postgres?schema=${schema}&connections=2`;
const storeOf = (schema: string): RunOptions & { readonly env: { readonly PARLEY_STORE: string } } => ({
  env: { PARLEY_STORE: address(schema) },
});

const add = (name: string, ...more: readonly string[]) => [
  ...['modes', 'add', name, '--base-url', model.url, '--model', 'm', ...more],
];

/** The names of modes; the default has a `*`. */
const shown = (modes: readonly { readonly name: string; readonly default: boolean }[]) =>
  modes.map(({ name, default: isDefault }) => (isDefault ? `${name}*` : name));

const modesAt = async (place: PlaceInProcess, options?: RunOptions) =>
  shown(await place.answer(['modes', 'list'], options));

describe('servers on two machines', () => {
  let servers: readonly ServedPlace[];
  let withFile: ServedPlace;
  let key: string;
  const store = () => storeOf('served');

  beforeAll(async () => {
    const file = join(there.path, 'modes.yaml');
    writeFileSync(file, `default: own\nmodes:\n  own:\n    base_url: ${model.url}\n    model: m\n`);
    key = (await here.output(['keys', 'create', '--project', 'team'], store())).trim();
    const { env } = store();
    [withFile, ...servers] = (await Promise.all([
      servePlace(there, ['--modes', file], env),
      servePlace(here, [], env),
      servePlace(there, [], env),
    ])) as [ServedPlace, ...ServedPlace[]];
  }, 60_000);
  afterAll(async () => {
    await Promise.all([withFile, ...servers].map((server) => server.end('SIGKILL')));
  });

  const modesOf = async ({ url }: ServedPlace) => {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    return response.status === 200 ? shown((await response.json()).data) : response.status;
  };
  const chat = ({ url }: ServedPlace, mode: string, message: string) =>
    fetch(`${url}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ mode, message }),
    });
  const reply = async (text: string) => {
    const next = await model.next();
    next.say(text);
    next.end();
  };
  const all = () => Promise.all(servers.map(modesOf));

  test('follow additions, changes and removals; a reply in a removed mode is completed', async () => {
    expect(await all()).toEqual([
      ['eliza*', 'echo'],
      ['eliza*', 'echo'],
    ]);
    await here.output(add('one'), store());
    await expect.poll(all).toEqual([
      ['one', 'eliza*', 'echo'],
      ['one', 'eliza*', 'echo'],
    ]);
    const [server] = servers as [ServedPlace];
    const running = chat(server, 'one', 'Slowly');
    const slow = await model.next();
    slow.say('Half');
    await there.output(add('two', '--default', '--fallback', 'one'), store());
    await there.output(['modes', 'set', 'two', '--fallback', ''], store());
    await there.output(['modes', 'remove', 'one'], store());
    await expect.poll(all).toEqual([
      ['two*', 'eliza', 'echo'],
      ['two*', 'eliza', 'echo'],
    ]);
    await expect.poll(() => server.written.err).toContain('modes read again');
    slow.say(' and half');
    slow.end();
    expect(await (await running).json()).toMatchObject({ data: { mode: 'one', reply: 'Half and half' } });
    expect(await (await chat(server, 'one', 'Again')).json()).toMatchObject({
      error: { code: 'UNKNOWN_MODE' },
    });
    for (const other of servers) {
      const answer = chat(other, 'two', 'Hi');
      await reply('Hello');
      expect(await (await answer).json()).toMatchObject({ data: { mode: 'two', reply: 'Hello' } });
    }
    expect(await modesOf(withFile)).toEqual(['own*', 'eliza', 'echo']);
  }, 60_000);

  test('keep their modes while the database is down, and follow again when it is back', async () => {
    const before = await all();
    await database.crash(200);
    const first = await Promise.all(
      servers.map(async (server) => {
        for (;;) {
          const modes = await modesOf(server);
          if (modes !== 503) return modes;
        }
      }),
    );
    expect(first).toEqual(before);
    await here.output(add('back'), store());
    await expect.poll(all).toEqual(before.map((modes) => [(modes as string[])[0], 'back', 'eliza', 'echo']));
    expect(await modesOf(withFile)).toEqual(['own*', 'eliza', 'echo']);
  }, 60_000);
});

test('a command on another machine uses the modes of the store, and each machine keeps its own modes separately', async () => {
  const store = storeOf('commands');
  await here.output(add('mine'));
  await here.output(add('ours', '--default', '--system', 'Be brief. é\u0001'), store);
  expect(await modesAt(here)).toEqual(['mine', 'eliza*', 'echo']);
  for (const place of [here, there]) {
    expect(await modesAt(place, store)).toEqual(['ours*', 'eliza', 'echo']);
    const output = place.output(['chat', '-n', 'Hi'], store);
    const reply = await model.next();
    reply.say('Hello');
    reply.end();
    expect(await output).toBe('Hello\n');
  }
  expect(await there.answer(['modes', 'show', 'ours'], store)).toMatchObject({ system: 'Be brief. é\u0001' });
  expect(readFileSync(there.configFile, 'utf8')).not.toContain('ours');
  const checks = await there.output(['doctor'], store);
  expect(checks).toMatch(
    /modes +ours \(default\), eliza, echo; set up in postgres:\/\/127\.0\.0\.1:\d+\/postgres/,
  );
  expect(await here.output(['doctor'])).toContain(
    `mine, eliza (default), echo; set up in ${here.configFile}`,
  );
  expectFailure(await there.parley(add('ours'), store), { status: 2, code: 'USAGE' });
  expectFailure(await there.parley(['modes', 'show', 'mine'], store), { status: 2, code: 'UNKNOWN_MODE' });
});

describe('users who change modes at the same time', () => {
  test('lose no change of different modes', async () => {
    const store = storeOf('added');
    const names = Array.from({ length: 8 }, (_, number) => `m${number}`);
    await Promise.all(names.map((name, number) => (number % 2 ? here : there).output(add(name), store)));
    expect((await modesAt(here, store)).sort()).toEqual(['echo', 'eliza*', ...names]);
  });

  test('get an error if both changed the same mode, and the first change stays', async () => {
    const store = storeOf('edited');
    await here.output(add('one'), store);
    const open = async () => {
      const options = postgresOptions(database, { schema: 'edited', connections: 1 });
      const place = modesInStore(await openPostgresModes(options), 'the store');
      onTestFinished(() => place.close());
      return new ModeRepository(place);
    };
    const [first, second] = await Promise.all([open(), open()]);
    const [seen, alsoSeen] = await Promise.all([first.read(), second.read()]);
    const settings = seen.settings('one') as ModeSettings;
    await first.put({ ...settings, temperature: 1 }, seen);
    const refused = second.put({ ...settings, context_tokens: 4096 }, alsoSeen);
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'USAGE', message: 'The mode one was changed by somebody else at the same time.' },
      remedy: { kind: 'look_at_mode', mode: 'one' },
    });
    const other = { ...settings, name: 'other' };
    await second.put(other, alsoSeen);
    await expect(first.put({ ...other, temperature: 1 }, seen)).rejects.toMatchObject({ code: 'USAGE' });
    await first.remove('one');
    await expect(second.put({ ...settings, temperature: 0 }, alsoSeen)).rejects.toMatchObject({
      code: 'USAGE',
    });
    expect((await first.read()).list().map(({ name }) => name)).toEqual(['other', 'eliza', 'echo']);
  });
});

test('a conversation uses the modes that are added on another machine from the next message on', async () => {
  const store = storeOf('repl');
  const screen = here.screen(['repl', '-m', 'echo'], { env: store.env });
  onTestFinished(() => screen.close());
  await screen.stands('echo> ');
  await there.output(add('late'), store);
  screen.type('/mode late\r');
  await screen.stands('late> ');
  await there.output(['modes', 'remove', 'late'], store);
  screen.type('Hi\r');
  await screen.shows('There is no mode "late"');
}, 30_000);

test('the database contains the source of a key, and never a key', async () => {
  const store = storeOf('keys');
  const secret = 'sk-canary-0123456789';
  const env = { ...store.env, MODEL_KEY: secret };
  await here.output(add('env', '--key', 'env:MODEL_KEY'), { env });
  await here.output(add('file', '--key', 'file:~/key'), { env });
  expectFailure(await here.parley(add('plain', '--key', secret), { env }), { status: 2, code: 'USAGE' });
  expectFailure(await here.parley(add('plain', '--param', `api_key=${secret}`), { env }), {
    ...{ status: 2, code: 'USAGE' },
  });
  const output = here.output(['chat', '-n', '-m', 'env', 'Hi'], { env });
  const reply = await model.next();
  reply.say('Hello');
  reply.end();
  await output;
  expect(await here.output(['doctor'], { env })).not.toContain('not set');
  expect(await there.output(['doctor'], store)).toContain(' has no key: MODEL_KEY is not set (env)');
  expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  const rows = JSON.stringify(await database.rows('SELECT * FROM keys.modes ORDER BY id'));
  expect(rows).toContain('env:MODEL_KEY');
  // Each machine has a home directory of its own.
  expect(rows).toContain('file:~/key');
  expect(rows).not.toContain(secret);
});

describe('a copy of a store', () => {
  test('has its modes: those of this machine for SQLite, those of the database for PostgreSQL', async () => {
    const machine = removeAfterTest(new PlaceInProcess());
    await machine.newSession();
    await machine.output(add('small', '--temperature', '0.5'));
    await machine.output(add('large', '--fallback', 'small', '--default'));
    await machine.output(['store', 'copy', '--from', machine.dataDirectory, '--to', address('first')]);
    expect(await modesAt(machine, storeOf('first'))).toEqual(['small', 'large*', 'eliza', 'echo']);
    const report = await here.answer([
      'store',
      'copy',
      '--from',
      address('first'),
      '--to',
      address('second'),
    ]);
    expect(report).toMatchObject({ modes: { copied: 2, kept: [], faulty: [] } });
    expect(await here.answer(['modes', 'list'], storeOf('second'))).toEqual(
      await machine.answer(['modes', 'list']),
    );
  });

  test('overwrites no mode, and copies no faulty one, because it could contain a key', async () => {
    const machine = removeAfterTest(new PlaceInProcess());
    await machine.newSession();
    await machine.output(add('same'));
    await machine.output(add('other', '--model', 'mine'));
    const config = JSON.parse(readFileSync(machine.configFile, 'utf8'));
    config.modes.faulty = { ...config.modes.same, key: 'sk-canary' };
    writeFileSync(machine.configFile, JSON.stringify(config));
    const store = storeOf('used');
    await here.output(add('same'), store);
    await here.output(add('other', '--model', 'theirs', '--default'), store);
    const args = ['store', 'copy', '--from', machine.dataDirectory, '--to', address('used')];
    expect(await machine.answer(args)).toMatchObject({
      modes: { copied: 0, kept: ['other'], faulty: ['faulty'] },
    });
    expect(await here.answer(['modes', 'show', 'other'], store)).toMatchObject({ model: 'theirs' });
    expect(JSON.stringify(await database.rows('SELECT * FROM used.modes'))).not.toContain('canary');
    await here.output(add('more'), store);
    const back = ['store', 'copy', '--from', address('used'), '--to', join(machine.path, 'new')];
    const outcome = await machine.parley(back);
    expect(outcome.err).toContain(`Copied 1 mode to ${machine.configFile}.`);
    expect(outcome.err).toContain('Kept existing modes with the same names: other.');
    expect(await machine.answer(['modes', 'show', 'other'])).toMatchObject({ model: 'mine' });
    expect(await modesAt(machine)).toEqual(['same', 'other*', 'more', 'faulty', 'eliza', 'echo']);
  });
});
