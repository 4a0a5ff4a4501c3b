// The keys of modes: each is sent only to its server and stored nowhere else, and a missing one is reported.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunk, sse, startStream } from '../support/model-server.ts';
import { PlaceWithModel } from '../support/place-with-model.ts';
import { sendJson } from '../support/scripted-server.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceWithModel;
beforeEach(async () => {
  place = await PlaceWithModel.open();
});
afterEach(() => place.close());

describe('a key', () => {
  const canary = 'sk-canary-0123456789abcdef';

  test('that is not there yet is reported when its mode is added or changed', async () => {
    const path = join(place.path, 'missing');
    const warning = `Warning: the file ${path} cannot be read (ENOENT).\n`;
    const settings = ['--base-url', place.server.url, '--model', 'm'];
    const add = ['modes', 'add', 'later', ...settings, '--key', `file:${path}`];
    expect((await place.parley(add)).err).toContain(warning);
    const set = ['modes', 'set', 'later', '--key', `file:${path}`];
    expect((await place.parley(set)).err).toContain(warning);
    writeFileSync(path, canary);
    expect((await place.parley(set)).err).not.toContain('Warning');
  });

  test('is sent to its server, and is nowhere else: not in files, output, logs, or the arguments of a process', async () => {
    writeFileSync(join(place.path, 'key'), `${canary}\n`);
    await place.add('by-env', '--key', 'env:MODEL_KEY');
    await place.add('by-file', '--key', `file:${join(place.path, 'key')}`);
    await place.add('by-command', '--key', `command:cat '${join(place.path, 'key')}'`);
    const env = { MODEL_KEY: canary };
    const written: string[] = [];
    const run = async (...words: readonly string[]) => {
      const { out, err } = await place.parley(words, { env });
      written.push(out, err);
    };
    for (const mode of ['by-env', 'by-file', 'by-command'])
      await run('chat', '-n', '-m', mode, 'Hi', '--debug');
    expect(place.server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill(`Bearer ${canary}`),
    );
    // This server repeats the key in its failures, completely and in part.
    const echoes = [`Incorrect key ${canary}`, `Incorrect key ${canary.slice(0, 9)}****${canary.slice(-6)}`];
    for (const message of echoes) {
      for (const status of [401, 500]) {
        place.script = (_request, response) => sendJson(response, { error: { message } }, status);
        await run('chat', '-n', '-m', 'by-file', 'Hi', '--debug');
        await run('chat', '-n', '-m', 'by-file', 'Hi', '--json');
      }
    }
    await run('modes', 'list');
    await run('modes', 'show', 'by-env', '--json');
    await run('doctor');

    place.script = (_request, response) => startStream(response).write(sse(chunk({ content: 'Half' })));
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
    place.script = (_request, response) => sendJson(response, { error: { message: echoes[0] } }, 400);
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
  ])('that is missing (%s) is reported, and the message is stored', async (key, message) => {
    await place.add('fast', '--key', key);
    const { status, err } = await place.parley(['chat', '-n', '-m', 'fast', 'Hi']);
    expect({ status, err }).toEqual({ status: 1, err: expect.stringMatching(message) });
    expect(err).toMatch(/The message is kept in session ses_/);
    expect(err).not.toContain('secret-word');
    expect(place.server.requests).toEqual([]);
  });
});

test('--timeout limits the command of a key', async () => {
  await place.add('fast', '--key', 'command:sleep 20');
  const { status, err } = await place.parley(['chat', '-n', '-m', 'fast', '--timeout', '0.5', 'Hi']);
  expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('took more than 0.5 s. (') });
});

describe('another server', () => {
  test('gets the key of a mode only if the command names the key again', async () => {
    await place.add('here', '--key', 'env:MODEL_KEY');
    const other = ['--base-url', 'https://other.example/v1'];
    for (const words of [
      ['set', 'here', ...other],
      ['add', 'copy', '--like', 'here', ...other],
    ]) {
      const { status, err } = await place.parley(['modes', ...words]);
      expect(status).toBe(2);
      expect(err).toContain(`The key of the mode here is for ${new URL(place.server.url).origin}`);
      expect(err).toContain('--key ""');
    }
    await place.output(['modes', 'add', 'copy', '--like', 'here', ...other, '--key', '']);
    await place.output(['modes', 'set', 'here', ...other, '--key', 'env:OTHER_KEY']);
    await place.output(['modes', 'set', 'here', '--base-url', 'https://other.example/v2']);
    expect(await place.answer(['modes', 'show', 'copy'])).toMatchObject({ key: null });
    expect(await place.answer(['modes', 'show', 'here'])).toMatchObject({ key: 'env:OTHER_KEY' });
  });

  test('needs its own permission for plain http', async () => {
    const plain = ['--base-url', 'http://10.0.0.1/v1', '--model', 'm', '--insecure-http'];
    await place.output(['modes', 'add', 'plain', ...plain]);
    const other = ['modes', 'set', 'plain', '--base-url', 'http://10.0.0.2/v1'];
    const { status, err } = await place.parley(other);
    expect(status).toBe(2);
    expect(err).toContain('unencrypted to 10.0.0.2');
    await place.output([...other, '--insecure-http']);
  });
});
