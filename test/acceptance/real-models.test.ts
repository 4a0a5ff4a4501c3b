// Modes with models behind them, from the command line: set up, asked, failed, repeated; and where their keys are never found.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunk, replyOf, sendStream, sse, startStream } from '../support/model-server.ts';
import { Place } from '../support/parley.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { servePlace } from '../support/served-place.ts';
import { testCertificate } from '../support/test-certificate.ts';

let place: Place;
let server: ScriptedServer;
let script: Parameters<typeof serve>[0];
beforeEach(async () => {
  place = new Place();
  script = (_request, response) => sendStream(response, replyOf('Hello', ' to you.'));
  server = await serve((request, response, count) => script(request, response, count));
});
afterEach(async () => {
  await server.close();
  place.remove();
});

const add = (name: string, ...more: readonly string[]) =>
  place.output(['modes', 'add', name, '--base-url', server.url, '--model', 'm', ...more]);
const fails =
  ({ code = 'server_error' } = {}): typeof script =>
  (_request, response) =>
    sendJson(response, { error: { message: 'No luck', code } }, 500);

describe('a mode', () => {
  test('is set up, listed, chosen, changed and taken away', async () => {
    await add('fast', '--system', 'Be brief.', '--param', 'top_p=0.5', '--max-tokens', '100', '--default');
    expect(await place.answer(['models'])).toMatchObject([
      { name: 'fast', engine: 'openai', model: 'm', default: true },
      { name: 'eliza', default: false },
      { name: 'echo', default: false },
    ]);
    expect(await place.output(['chat', '-n', 'Hi'])).toBe('Hello to you.\n');
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ top_p: 0.5, max_tokens: 100 });
    await place.output(['modes', 'set', 'fast', '--system', '', '--param', 'top_p=', '--temperature', '0']);
    expect(await place.answer(['modes', 'show', 'fast'])).toMatchObject({
      ...{ system: null, temperature: 0, parameters: { max_tokens: 100 }, model: 'm' },
    });
    await place.output(['modes', 'default', 'echo']);
    expect(await place.output(['chat', '-n', 'Hi'])).toBe('Hi\n');
    await place.output(['modes', 'default', 'fast']);
    const removed = await place.parley(['modes', 'remove', 'fast']);
    expect(removed.err).toContain('It was the default: eliza is used now');
    expect((await place.parley(['chat', '-n', '-m', 'fast', 'Hi'])).status).toBe(2);
    expect(await place.answer(['modes', 'list'])).toHaveLength(2);
  });

  test.each([
    [['--base-url', 'http://example.com'], /--base-url would send the key unencrypted/],
    [['--key', 'sk-canary'], /--key does not say where the key is/],
    [['--fallback', 'nobody'], /--fallback names no mode: "nobody"/],
    [['--temperature', 'warm'], /Give a number/],
  ])('with %j is refused, and nothing is kept', async (flags, message) => {
    const words = ['modes', 'add', 'other', '--base-url', server.url, '--model', 'm', ...flags];
    const { status, err } = await place.parley(words);
    expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(message) });
    expect(err).not.toContain('canary');
    expect(await place.answer(['modes', 'list'])).toHaveLength(2);
  });

  test.each(['eliza', '../x', ''])('cannot be called %j, nor as another', async (name) => {
    expect(
      (await place.parley(['modes', 'add', name, '--base-url', server.url, '--model', 'm'])).status,
    ).toBe(2);
    await add('one');
    expect(
      (await place.parley(['modes', 'add', 'one', '--base-url', server.url, '--model', 'm'])).status,
    ).toBe(2);
  });

  test('is of this machine: a server’s modes are not its to change', async () => {
    const env = { PARLEY_API_KEY: 'k' };
    const { status, err } = await place.parley(['modes', 'list', '--url', server.url], { env });
    expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('UNSUPPORTED') });
  });
});

describe('a chat', () => {
  test('tells tokens and notes on stderr, when asked for', async () => {
    await add('deep');
    script = (_request, response) =>
      sendStream(response, sse(chunk({ reasoning_content: 'They greet me.' })) + replyOf('Hello'));
    const plain = await place.parley(['chat', '-n', '-m', 'deep', 'Hi']);
    expect(plain).toMatchObject({ out: 'Hello\n', err: expect.not.stringContaining('They greet') });
    const full = await place.parley(['chat', '-n', '-m', 'deep', '--usage', '--reasoning', 'Hi']);
    expect(full).toMatchObject({ out: 'Hello\n', err: 'They greet me.\ntokens: 11 in, 3 out\n' });
    const dimmed = await place.parley(['chat', '-n', '-m', 'deep', '--reasoning', 'Hi'], {
      env: { FORCE_COLOR: '1' },
    });
    expect(dimmed.err).toBe('\u001b[2mThey greet me.\n\u001b[22m');
    await place.output(['modes', 'set', 'deep', '--show-reasoning']);
    expect((await place.parley(['chat', '-n', '-m', 'deep', 'Hi'])).err).toBe('They greet me.\n');
  });

  test('keeps what the model thinks in tags out of the reply, the session and the next request', async () => {
    await add('deep', '--default');
    script = (_request, response) =>
      sendStream(response, replyOf('<think>\nThey gre', 'et me.</th', 'ink>\n\nHello'));
    expect(await place.parley(['chat', '-n', '--reasoning', 'Hi'])).toMatchObject({
      ...{ out: 'Hello\n', err: 'They greet me.\n' },
    });
    const id = (await place.output(['sessions', 'list', '--ids'])).trim();
    expect(await place.output(['chat', '-n', '-s', id, 'Again'])).toBe('Hello\n');
    expect(await place.output(['sessions', 'messages', id, '--json'])).not.toMatch(/think|greet/);
    expect(server.requests.at(-1)?.body).not.toMatch(/think|greet/);
  });

  test('goes to a server over TLS, whose certificate is trusted', async () => {
    const far = await serve((_request, response) => sendStream(response, replyOf('Hello')), testCertificate);
    writeFileSync(join(place.path, 'authority.pem'), testCertificate.cert);
    await place.output(['modes', 'add', 'far', '--base-url', far.url, '--model', 'm']);
    try {
      const env = { NODE_EXTRA_CA_CERTS: join(place.path, 'authority.pem') };
      expect(await place.output(['chat', '-n', '-m', 'far', 'Hi'], { env })).toBe('Hello\n');
      const { status, err } = await place.parley(['chat', '-n', '-m', 'far', 'Hi']);
      expect({ status, err }).toEqual({
        status: 1,
        err: expect.stringMatching(/certificate.*\(ENGINE_FAILED\)/),
      });
      expect(far.requests).toHaveLength(1);
    } finally {
      await far.close();
    }
  });

  test('that fails keeps the message, and its printed command repeats the turn: nothing is there twice', async () => {
    await add('fast', '--default');
    script = fails();
    const failed = await place.parley(['chat', '-n', "it's me"]);
    expect(failed).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringMatching(/The mode fast failed.*\(ENGINE_FAILED\)/),
    });
    const command = /parley chat --idempotency-key .*$/m.exec(failed.err)?.[0] ?? '';
    script = (_request, response) => sendStream(response, replyOf('Hello'));
    const again = await place.shell(command);
    expect(again).toMatchObject({ status: 0, out: 'Hello\n' });
    const id = (await place.output(['sessions', 'list', '--ids'])).trim();
    const { items } = await place.answer<{ items: readonly { content: string }[] }>([
      'sessions',
      'messages',
      id,
    ]);
    expect(items.map(({ content }) => content)).toEqual(["it's me", 'Hello']);
  });

  test.each(['--json', '--json-stream'])(
    'that fails with %s prints that command beside the body',
    async (flag) => {
      await add('fast', '--default');
      script = fails();
      const failed = await place.parley(['chat', '-n', flag, 'Hi']);
      const body = JSON.parse(failed.out.trim().split('\n').at(-1) ?? '');
      expect(body).toMatchObject({
        success: false,
        error: { code: 'ENGINE_FAILED', session_id: expect.stringMatching(/^ses_/) },
      });
      expect(failed.out).not.toContain('idempotency-key');
      const command = /parley chat --idempotency-key .*$/m.exec(failed.err)?.[0] ?? '';
      expect(command).toContain(` ${flag} `);
      script = (_request, response) => sendStream(response, replyOf('Hello'));
      const again = await place.shell(command);
      expect(again.status).toBe(0);
      expect(JSON.parse(again.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
        data: { reply: 'Hello', session_id: body.error.session_id, message_count: 2 },
      });
    },
  );

  test('that fails prints a command that means the same turn, whatever was done since', async () => {
    await add('fast', '--default');
    await place.output(['chat', '-n', 'Hi']);
    script = fails();
    const failed = await place.parley(['chat', '-n', '-c', '--usage', '--', '-x is my flag']);
    await place.output(['chat', '-n', '-m', 'echo', 'Elsewhere']);
    await place.output(['modes', 'default', 'echo']);
    script = (_request, response) => sendStream(response, replyOf('Hello'));
    const command = /parley chat --idempotency-key .*$/m.exec(failed.err)?.[0] ?? '';
    expect(await place.shell(command)).toMatchObject({
      ...{ status: 0, out: 'Hello\n', err: 'tokens: 11 in, 3 out\n' },
    });
    const sessions = await place.answer<{ items: readonly { message_count: number }[] }>([
      'sessions',
      'list',
    ]);
    expect(sessions.items.map(({ message_count }) => message_count)).toEqual([4, 2]);
  });

  test('that fails elsewhere prints a command that goes there, and nowhere else', async () => {
    await add('fast', '--default');
    script = fails();
    const served = await servePlace(place);
    try {
      const { url } = served;
      const env = { PARLEY_API_KEY: (await place.output(['keys', 'create', '--project', 'p'])).trim() };
      const { err } = await place.parley(['chat', '-n', '--url', url, 'Hi'], { env });
      expect(err).toMatch(/^Ask again.*: parley chat --idempotency-key \S+ -m fast --url http.* -n Hi$/m);
      expect(err).toContain(` --url ${url} `);
    } finally {
      await served.end('SIGTERM');
    }
  });

  test('with --debug prints a command that takes the key from where the mode has it, and runs', async () => {
    await add('fast', '--key', 'env:MODEL_KEY');
    writeFileSync(join(place.path, "a key's"), 'from-file\n');
    await add('by-file', '--key', `file:${join(place.path, "a key's")}`);
    const env = { MODEL_KEY: 'from-variable', PARLEY_API_KEY: '' };
    for (const [mode, key] of [
      ['fast', 'from-variable'],
      ['by-file', 'from-file'],
    ] as const) {
      const { err } = await place.parley(['chat', '-n', '-m', mode, '--debug', 'Hi'], { env });
      const command = /^curl .*$/m.exec(err)?.[0] ?? '';
      expect(command).not.toContain(key);
      expect(await place.shell(command, env)).toMatchObject({ status: 0 });
      expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    }
    expect(server.requests).toHaveLength(4);
  });

  test('says which mode replied in place of the one that failed', async () => {
    await add('small');
    await add('large', '--fallback', 'small');
    script = (request, response, count) =>
      count === 1 ? fails()(request, response, count) : sendStream(response, replyOf('Hello'));
    const { out, err } = await place.parley(['chat', '-n', '-m', 'large', 'Hi']);
    expect({ out, err }).toEqual({
      out: 'Hello\n',
      err: expect.stringMatching(/The mode large failed; small replied\.\n$/),
    });
  });

  test('says how many turns it left out', async () => {
    await add('short', '--context', '256');
    const id = (await place.output(['sessions', 'create'])).trim();
    const long = 'word '.repeat(120);
    for (const _ of [1, 2]) await place.output(['chat', '-n', '-m', 'short', '-s', id, long]);
    const { err } = await place.parley(['chat', '-n', '-m', 'short', '-s', id, long]);
    expect(err).toContain('2 earlier turns were left out: by estimate');
    const { turns_left_out } = await place.answer<{ turns_left_out: number }>([
      'chat',
      '-n',
      '-m',
      'short',
      '-s',
      id,
      long,
    ]);
    expect(turns_left_out).toBe(3);
  });

  test('is stopped by Ctrl-C within a second, and what came is kept', async () => {
    await add('slow', '--default');
    script = (_request, response) => startStream(response).write(sse(chunk({ content: 'Half' })));
    const child = place.start(['chat', '-n', 'Hi']);
    let out = '';
    child.stdout.on('data', (piece: Buffer) => {
      out += piece;
      if (out === 'Half') child.kill('SIGINT');
    });
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect(status).toBe(130);
    const id = (await place.output(['sessions', 'list', '--ids'])).trim();
    const { items } = await place.answer<{ items: readonly object[] }>(['sessions', 'messages', id]);
    expect(items[1]).toMatchObject({ content: 'Half', finish_reason: 'interrupted' });
  });
});

describe('a key', () => {
  const canary = 'sk-canary-0123456789abcdef';

  test('goes to its server, and is found nowhere else: not in files, output, logs, or the arguments of a process', async () => {
    writeFileSync(join(place.path, 'key'), `${canary}\n`);
    await add('by-env', '--key', 'env:MODEL_KEY');
    await add('by-file', '--key', `file:${join(place.path, 'key')}`);
    await add('by-command', '--key', `command:cat '${join(place.path, 'key')}'`);
    const env = { MODEL_KEY: canary };
    const written: string[] = [];
    const run = async (...words: readonly string[]) => {
      const { out, err } = await place.parley(words, { env });
      written.push(out, err);
    };
    for (const mode of ['by-env', 'by-file', 'by-command'])
      await run('chat', '-n', '-m', mode, 'Hi', '--debug');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill(`Bearer ${canary}`),
    );
    // A server that repeats the key in its failures, in whole and in part.
    const echoes = [`Incorrect key ${canary}`, `Incorrect key ${canary.slice(0, 9)}****${canary.slice(-6)}`];
    for (const message of echoes) {
      for (const status of [401, 500]) {
        script = (_request, response) => sendJson(response, { error: { message } }, status);
        await run('chat', '-n', '-m', 'by-file', 'Hi', '--debug');
        await run('chat', '-n', '-m', 'by-file', 'Hi', '--json');
      }
    }
    await run('modes', 'list');
    await run('modes', 'show', 'by-env', '--json');
    await run('doctor');

    script = (_request, response) => startStream(response).write(sse(chunk({ content: 'Half' })));
    const slow = place.start(['chat', '-n', '-m', 'by-command', 'Hi'], env);
    await new Promise((resolve) => slow.stdout.once('data', resolve));
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    for (const pid of processes) {
      let words = '';
      try {
        words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        continue; // it has ended meanwhile
      }
      expect(words).not.toContain(canary);
    }
    slow.kill('SIGINT');
    await new Promise((resolve) => slow.once('close', resolve));

    const served = await servePlace(place, [], env);
    const parleyKey = (await place.output(['keys', 'create', '--project', 'p'])).trim();
    script = (_request, response) => sendJson(response, { error: { message: echoes[0] } }, 400);
    const response = await fetch(`${served.url}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${parleyKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ mode: 'by-env', message: 'Hi' }),
    });
    expect(response.status).toBe(502);
    written.push(await response.text());
    const { out, err } = await served.end('SIGTERM');
    written.push(out, err);

    const files = readdirSync(place.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'key')
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    expect(files.length).toBeGreaterThan(2);
    for (const text of [...files, ...written]) expect(text).not.toMatch(/sk-cana|0123456789|abcdef/);
  }, 60_000);

  test.each([
    ['env:NOT_SET', /the variable NOT_SET is not set/],
    ['command:echo secret-word >&2; exit 3', /the command failed \(exit 3\)/],
  ])('that is not there (%s) is told, and the message is kept', async (key, message) => {
    await add('fast', '--key', key);
    const { status, err } = await place.parley(['chat', '-n', '-m', 'fast', 'Hi']);
    expect({ status, err }).toEqual({ status: 1, err: expect.stringMatching(message) });
    expect(err).toMatch(/The message is kept in session ses_/);
    expect(err).not.toContain('secret-word');
    expect(server.requests).toEqual([]);
  });
});
