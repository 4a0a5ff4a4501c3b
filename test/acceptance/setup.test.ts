// `parley setup` with and without a model server on this machine, up to the first reply; and `parley usage` afterwards.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { differences, readShapes } from '../support/json-shapes.ts';
import { hasNoModelServer } from '../support/machine.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

const isQuiet = await hasNoModelServer();

let place: PlaceInProcess;
let server: ScriptedServer;
let env: Record<string, string>;
let fails = false;
let reply = '';
beforeEach(async () => {
  place = new PlaceInProcess();
  fails = false;
  reply = replyOf('Hello', ' there.');
  server = await serve(({ method, path }, response) => {
    if (method === 'GET' && path === '/v1/models') {
      const data = ['nomic-embed-text', 'qwen3:8b', 'org/llama 3'].map((id) => ({ id, object: 'model' }));
      sendJson(response, { object: 'list', data });
    } else if (fails) sendJson(response, { error: { message: 'No memory' } }, 500);
    else sendStream(response, reply);
  });
  env = { OLLAMA_HOST: `127.0.0.1:${server.port}` };
});
afterEach(async () => {
  await server.close();
  place.remove();
});

test('with --yes the first model of a server on this machine becomes the default, and answers', async () => {
  const { status, err } = await place.parley(['setup', '--yes'], { env });
  expect({ status, err }).toEqual({
    status: 0,
    err: expect.stringMatching(/Created mode qwen3:8b: qwen3:8b at Ollama/),
  });
  expect(await place.output(['chat', '-n', 'hi'])).toBe('Hello there.\n');
  expect(await place.output(['sessions', 'list'])).toMatch(/^ses_\w+\t2\t\S+\thi\n$/);
  // A second run creates nothing twice.
  const modes = async () =>
    (await place.answer<{ name: string }[]>(['modes', 'list'])).map(({ name }) => name);
  const made = await modes();
  expect(await place.answer(['setup', '--yes', '--quiet'], { env })).toMatchObject({
    modes: ['qwen3:8b'],
    default: 'qwen3:8b',
    reply: 'Hello there.',
  });
  expect(await modes()).toEqual(made);
  expect(made.filter((name) => name === 'qwen3:8b')).toHaveLength(1);
  const body: unknown = JSON.parse(await place.output(['setup', '--yes', '--quiet', '--json'], { env }));
  expect(differences(body, readShapes().get('parley setup') ?? new Map())).toEqual([]);
});

test('a vendor is not contacted without a confirmation, and its key is not shown', async () => {
  const { status, err } = await place.parley(['setup', '--yes', '--debug'], {
    env: { ...env, OPENAI_API_KEY: 'sk-canary', HTTPS_PROXY: server.url },
  });
  expect(status).toBe(0);
  expect(err).toContain('OPENAI_API_KEY is set. To use OpenAI: parley modes add');
  expect(err).not.toContain('sk-canary');
  expect(new Set(server.requests.map(({ path }) => path))).toEqual(
    new Set(['/v1/models', '/v1/chat/completions']),
  );
});

describe('the default that the user chose', () => {
  test('stays when setup runs again with --yes, whatever it finds', async () => {
    await place.output(['setup', '--yes'], { env });
    await place.output(['modes', 'default', 'eliza']);
    const again = await place.parley(['setup', '--yes'], { env });
    expect(again).toMatchObject({
      status: 0,
      err: expect.stringContaining(
        'The default mode is still eliza; to change it: parley modes default qwen3:8b',
      ),
    });
    expect(again.err).toContain('The mode qwen3:8b already uses qwen3:8b at Ollama, and stays unchanged.\n');
    expect(await place.answer(['models'])).toContainEqual(
      expect.objectContaining({ name: 'eliza', default: true }),
    );
    expect(await place.answer(['setup', '--yes', '--quiet'], { env })).toMatchObject({ default: 'eliza' });
    fails = true;
    const failed = await place.parley(['setup', '--yes'], { env });
    expect(failed.err).toContain('The modes are kept, and eliza stays the default.');
  });

  test('is one of the choices at a terminal', async () => {
    await place.output(['modes', 'default', 'echo']);
    const typing = [
      { after: 'Which models should become modes?', keys: ' \r' },
      { after: 'echo (current default)', keys: '\r' },
    ];
    const { status, out } = await place.terminal('parley setup', env, typing);
    expect({ status, out: stripVTControlCharacters(out) }).toEqual({
      status: 0,
      out: expect.stringContaining('The default mode is still echo'),
    });
    expect(await place.answer(['models'])).toContainEqual(
      expect.objectContaining({ name: 'echo', default: true }),
    );
  }, 30_000);
});

test('a model that shows its notes in front of its reply gets a mode that keeps them apart', async () => {
  reply = replyOf('They greet me.\n</think>\n\n', 'Hello.');
  const { err } = await place.parley(['setup', '--yes'], { env });
  expect(err).toContain('qwen3:8b writes its reasoning before its reply, so they will be separated');
  expect(await place.output(['chat', '-n', 'hi'])).toBe('Hello.\n');
});

describe('a vendor whose key is set, at a terminal', () => {
  const vendorEnv = () => ({
    ...env,
    OPENAI_API_KEY: 'sk-canary',
    OPENAI_BASE_URL: `${vendor.url}/openai/v1`,
  });
  // The first one has the name of the key, and is left out.
  const vendorsList: Parameters<typeof serve>[0] = ({ method }, response) => {
    if (method === 'POST') return sendStream(response, replyOf('From afar.'));
    sendJson(response, {
      object: 'list',
      data: [{ id: 'x-SK-CANARY' }, { id: 'gpt-x' }, { id: 'text-embedding-3' }],
    });
  };
  let vendor: ScriptedServer;
  beforeEach(async () => {
    vendor = await serve(vendorsList);
  });
  afterEach(() => vendor.close());
  const question = () => `OPENAI_API_KEY is set. Ask 127.0.0.1:${vendor.port} which models it has?`;

  test.runIf(isQuiet)(
    'is contacted after a confirmation, at OPENAI_BASE_URL, and becomes a mode',
    async () => {
      const typing = [
        { after: question(), keys: 'y\r' },
        { after: 'Which models should become modes?', keys: '\u001b[B\u001b[B \r' },
      ];
      const { status, out } = await place.terminal('parley setup', vendorEnv(), typing);
      expect({ status, out: stripVTControlCharacters(out) }).toEqual({
        status: 0,
        out: expect.stringContaining('gpt-x replied, and is now the default mode.'),
      });
      expect(out).not.toContain('sk-canary');
      expect(vendor.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ['/openai/v1/models', 'Bearer sk-canary'],
        ['/openai/v1/chat/completions', 'Bearer sk-canary'],
      ]);
      expect(await place.answer(['modes', 'show', 'gpt-x'])).toMatchObject({
        base_url: `${vendor.url}/openai/v1`,
        key: 'env:OPENAI_API_KEY',
      });
    },
    30_000,
  );

  test.each([
    ['a no', 'n\r', 0],
    ['no answer', '\r', 0],
    ['Ctrl-C', '\u0003', 130],
  ])(
    'hears nothing after %s',
    async (_answer, keys, expected) => {
      const typing = [
        { after: question(), keys },
        { after: 'Which models should become modes?', keys: ' \r' },
      ];
      const { status } = await place.terminal('parley setup', vendorEnv(), typing);
      expect(status).toBe(expected);
      expect(vendor.requests).toEqual([]);
      expect(vendor.connections()).toBe(0);
    },
    30_000,
  );

  test('is left out with a note if OPENAI_BASE_URL is no address that may get a key', async () => {
    const wrong = { ...vendorEnv(), OPENAI_BASE_URL: 'http://user:secret@api.example/v1' };
    const { status, err } = await place.parley(['setup', '--yes'], { env: wrong });
    expect(status).toBe(0);
    expect(err).toContain('The URL of OPENAI_BASE_URL contains a user name or a password.');
    expect(err).not.toMatch(/secret|api\.example|api\.openai\.com/);
  });
});

test('an address on another machine in OLLAMA_HOST is not contacted', async () => {
  const { err } = await place.parley(['setup', '--yes'], { env: { OLLAMA_HOST: 'ollama.example:80' } });
  expect(err).not.toContain('ollama.example');
});

test('a model that fails is reported, and does not become the default', async () => {
  fails = true;
  const { status, err } = await place.parley(['setup', '--yes'], { env });
  expect({ status, err }).toEqual({
    status: 1,
    err: expect.stringMatching(
      /The mode qwen3:8b failed.*It says: No memory.*The mode llama-3 failed.*No memory.*\nThe modes are kept, but none of them is the default/s,
    ),
  });
  expect(err).not.toContain('The message is kept');
  expect(await place.answer(['models'])).toContainEqual(
    expect.objectContaining({ name: 'eliza', default: true }),
  );
});

test('with --yes up to three models of a server are tried until one works, and each failure is reported', async () => {
  const requested: string[] = [];
  let good = 'd';
  const many = await serve(({ method, body }, response) => {
    if (method === 'GET') return sendJson(response, { data: ['a', 'b', 'c', 'd'].map((id) => ({ id })) });
    const { model } = JSON.parse(body) as { model: string };
    requested.push(model);
    if (model === good) return sendStream(response, replyOf('Here.'));
    sendJson(response, { error: { message: `No memory for ${model}` } }, 500);
  });
  const names = async () =>
    (await place.answer<{ name: string }[]>(['modes', 'list'])).map(({ name }) => name);
  try {
    const there = { OLLAMA_HOST: `127.0.0.1:${many.port}` };
    const none = await place.parley(['setup', '--yes'], { env: there });
    expect(none.err).toMatch(/for a\b.*for b\b.*for c\b/s);
    expect(requested).toEqual(['a', 'b', 'c']);
    expect(none.err).toContain('parley modes default a');
    expect(await names()).toEqual(['a', 'eliza', 'echo']);
    good = 'c';
    expect(await place.answer(['setup', '--yes', '--quiet'], { env: there })).toMatchObject({
      ...{ modes: ['a', 'c'], default: 'c', reply: 'Here.' },
    });
    expect(await names()).toEqual(['a', 'c', 'eliza', 'echo']);
  } finally {
    await many.close();
  }
});

test('a server that is stored under another name of this machine is the same', async () => {
  const url = `http://localhost:${server.port}`;
  await place.output(['modes', 'add', 'mine', '--base-url', url, '--model', 'qwen3:8b']);
  const { err } = await place.parley(['setup', '--yes'], { env });
  expect(err).not.toContain('Created mode qwen3:8b');
  expect(err).toContain('mine replied, and is now the default mode.');
});

test('a note says what Ollama leaves out of a long conversation, once for each mode that is added by hand', async () => {
  const window = /OLLAMA_CONTEXT_LENGTH=(\d+) ollama serve/;
  const { err } = await place.parley(['setup', '--yes'], { env });
  expect(window.exec(err)?.[1]).toBe('8192');
  const add = async (name: string, url: string, ...more: readonly string[]) =>
    (await place.parley(['modes', 'add', name, '--base-url', url, '--model', 'm', ...more])).err;
  const ollama = 'http://127.0.0.1:11434/v1';
  expect(window.exec(await add('a', ollama, '--context', '16000'))?.[1]).toBe('16000');
  expect(await add('b', ollama, '--context', '4096')).not.toMatch(window);
  expect(await add('c', 'http://127.0.0.1:8080/v1')).not.toMatch(window);
});

test('with --yes a model that fails is replaced by one of the next server', async () => {
  fails = true;
  const lmStudio = await serve(({ method }, response) =>
    method === 'GET'
      ? sendJson(response, { object: 'list', data: [{ id: 'gemma', object: 'model' }] })
      : sendStream(response, replyOf('Here.')),
  );
  place.modelAddresses['LM Studio'] = `${lmStudio.url}/v1`;
  try {
    const { status, err } = await place.parley(['setup', '--yes'], { env });
    expect({ status, err }).toEqual({ status: 0, err: expect.stringMatching(/No memory.*gemma replied/s) });
    expect(await place.output(['chat', '-n', 'hi'])).toBe('Here.\n');
  } finally {
    await lmStudio.close();
  }
});

test('at a terminal the models are selected from a list, and then the default', async () => {
  const typing = [
    { after: 'Which models should become modes?', keys: ' \u001b[B \r' },
    { after: 'Which one should be', keys: '\u001b[B\r' },
  ];
  const { status, out } = await place.terminal('parley setup', env, typing);
  expect(status).toBe(0);
  expect(stripVTControlCharacters(out)).toContain('Created mode llama-3: org/llama 3 at Ollama.');
  expect(await place.answer(['models'])).toMatchObject([
    { name: 'qwen3:8b', default: false },
    { name: 'llama-3', model: 'org/llama 3', default: true },
    {},
    {},
  ]);
}, 30_000);

test('at a terminal Enter alone selects none of several models, and a note says how to select one', async () => {
  const { status, out } = await place.terminal('parley setup', env, [
    { after: 'Which models should become modes?', keys: '\r' },
  ]);
  // The terminal has 80 columns, at which notices are wrapped.
  expect({ status, out: stripVTControlCharacters(out).replace(/\s+/g, ' ') }).toEqual({
    status: 0,
    out: expect.stringContaining(
      'No mode was created, because nothing was selected: Space selects, Enter confirms.',
    ),
  });
  expect(await place.answer(['models'])).toHaveLength(2);
}, 30_000);

test.runIf(isQuiet)(
  'at a terminal Enter alone selects the only model',
  async () => {
    const only = await serve(({ method }, response) =>
      method === 'GET' ? sendJson(response, { data: [{ id: 'qwen3:8b' }] }) : sendStream(response, reply),
    );
    try {
      const { status, out } = await place.terminal(
        'parley setup',
        { OLLAMA_HOST: `127.0.0.1:${only.port}` },
        [{ after: 'Which models should become modes?', keys: '\r' }],
      );
      expect({ status, out: stripVTControlCharacters(out) }).toEqual({
        status: 0,
        out: expect.stringContaining('Created mode qwen3:8b: qwen3:8b at Ollama.'),
      });
    } finally {
      await only.close();
    }
  },
  30_000,
);

test('without a terminal and without --yes nothing is done', async () => {
  const { status, err } = await place.parley(['setup'], { env });
  expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining('--yes') });
  expect(server.requests).toEqual([]);
});

test('setup refuses a file of certificates that cannot be used', async () => {
  const outcome = await place.parley(['setup', '--yes', '--ca', 'missing.pem'], { env });
  expectFailure(outcome, { status: 2, code: 'CONFIG' });
});

test('setup reads a file of certificates once, because it may be a pipe', async () => {
  writeFileSync(join(place.path, 'ca.pem'), testCertificate.cert);
  const outcome = await place.shell('parley setup --yes --ca <(cat ca.pem)', env);
  expect(outcome).toMatchObject({ status: 0, err: expect.stringContaining('replied') });
});

test('usage sums up by mode, session and day, with bars on a terminal', async () => {
  await place.output(['setup', '--yes'], { env });
  for (const mode of ['qwen3:8b', 'echo']) await place.output(['chat', '-n', '-m', mode, 'hi']);
  expect(await place.output(['usage'])).toMatch(
    /^qwen3:8b\t2\t0\t22\t6\t\d+ ms\t0\necho\t1\t0\t-\t-\t\d+ ms\t1\n$/,
  );
  expect(await place.output(['usage', '--by', 'day', '--days', '1'])).toMatch(
    /^\d{4}-\d\d-\d\d\t3\t0\t22\t6\t\d+ ms\t1\n/,
  );
  expect(await place.answer(['usage', '--by', 'session'])).toHaveLength(3);
  const { out } = await place.terminal('parley usage', { NO_COLOR: '1' });
  expect(out).toMatch(
    /^MODE +TURNS +FAILED +TOKENS IN +OUT +FIRST TOKEN +BY TOKENS\nqwen3:8b .* █{20,}\necho /,
  );
  expect((await place.parley(['usage', '--by', 'year'])).status).toBe(2);
  const narrow = place.screen(['usage'], { columns: 40 });
  await narrow.ended;
  expect(narrow.text).toMatch(
    /^qwen3:8b\n {2}2 turns, 0 failed\n {2}tokens: 22 in, 6 out\n {2}first token: \d+ ms\necho\n {2}1 turn, 0 failed\n {2}tokens: not counted\n/,
  );
  narrow.close();
});

test('an Ollama without a chat model is reported, with a model to pull', async () => {
  const embedding = await serve((_request, response) =>
    sendJson(response, { object: 'list', data: [{ id: 'nomic-embed-text' }] }),
  );
  try {
    const { err } = await place.parley(['setup', '--yes'], {
      env: { OLLAMA_HOST: `127.0.0.1:${embedding.port}` },
    });
    expect(err).toContain('No model to chat with was found on this machine');
    expect(err).toContain('none of its models is made for chats. Pull one with ollama pull');
    expect(err).not.toContain('Install Ollama');
  } finally {
    await embedding.close();
  }
});

test('an Ollama without any model is reported, with a model to pull', async () => {
  const empty = await serve((_request, response) => sendJson(response, { object: 'list', data: null }));
  try {
    const { err } = await place.parley(['setup', '--yes'], {
      env: { OLLAMA_HOST: `127.0.0.1:${empty.port}` },
    });
    expect(err).toMatch(/Ollama \(http:\S+\): has no model yet/);
    expect(err).toContain('Pull a model with ollama pull');
  } finally {
    await empty.close();
  }
});
