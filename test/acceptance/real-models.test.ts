// Modes with a model server, from the command line: they are added, used and stopped; and the notes about a reply.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunk, replyOf, sendStream, sse, startStream } from '../support/model-server.ts';
import { fails, PlaceWithModel } from '../support/place-with-model.ts';
import { serve } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

let place: PlaceWithModel;
beforeEach(async () => {
  place = await PlaceWithModel.open();
});
afterEach(() => place.close());

describe('a mode', () => {
  test('is added, listed, selected, changed and removed', async () => {
    await place.add(
      'fast',
      '--system',
      'Be brief.',
      '--param',
      'top_p=0.5',
      '--max-tokens',
      '100',
      '--default',
    );
    expect(await place.answer(['models'])).toMatchObject([
      { name: 'fast', engine: 'openai', model: 'm', default: true },
      { name: 'eliza', default: false },
      { name: 'echo', default: false },
    ]);
    expect(await place.output(['chat', '-n', 'Hi'])).toBe('Hello to you.\n');
    expect(JSON.parse(place.server.requests[0]?.body ?? '')).toMatchObject({ top_p: 0.5, max_tokens: 100 });
    await place.output(['modes', 'set', 'fast', '--system', '', '--param', 'top_p=', '--temperature', '0']);
    expect(await place.answer(['modes', 'show', 'fast'])).toMatchObject({
      ...{ system: null, temperature: 0, parameters: { max_tokens: 100 }, model: 'm' },
    });
    await place.output(['modes', 'default', 'echo']);
    expect(await place.output(['chat', '-n', 'Hi'])).toBe('Hi\n');
    await place.output(['modes', 'default', 'fast']);
    const removed = await place.parley(['modes', 'remove', 'fast']);
    expect(removed.err).toContain('It was the default mode; the default is now eliza.');
    expect((await place.parley(['chat', '-n', '-m', 'fast', 'Hi'])).status).toBe(2);
    expect(await place.answer(['modes', 'list'])).toHaveLength(2);
  });

  test.each([
    [
      ['--base-url', 'http://example.com'],
      /--base-url would send the messages unencrypted.*\n.*allow it with --insecure-http/,
    ],
    [['--key', 'sk-canary'], /--key does not say where the key is/],
    [['--fallback', 'nobody'], /--fallback is not a mode: "nobody"/],
    [['--temperature', 'warm'], /Give a number/],
  ])('with %j is refused, and nothing is stored', async (flags, message) => {
    const words = ['modes', 'add', 'other', '--base-url', place.server.url, '--model', 'm', ...flags];
    const { status, err } = await place.parley(words);
    expect({ status, err }).toEqual({ status: 2, err: expect.stringMatching(message) });
    expect(err).not.toContain('canary');
    expect(await place.answer(['modes', 'list'])).toHaveLength(2);
  });

  test.each(['eliza', '../x', ''])('cannot be called %j, nor like another mode', async (name) => {
    expect(
      (await place.parley(['modes', 'add', name, '--base-url', place.server.url, '--model', 'm'])).status,
    ).toBe(2);
    await place.add('one');
    expect(
      (await place.parley(['modes', 'add', 'one', '--base-url', place.server.url, '--model', 'm'])).status,
    ).toBe(2);
  });

  test('is on this machine: a client cannot change the modes of a server', async () => {
    const env = { PARLEY_API_KEY: 'k' };
    const { status, err } = await place.parley(['modes', 'list', '--url', place.server.url], { env });
    expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('UNSUPPORTED') });
  });
});

describe('a chat', () => {
  test('prints tokens and reasoning on stderr on request', async () => {
    await place.add('deep');
    place.script = (_request, response) =>
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

  test('keeps reasoning in tags out of the reply, the session and the next request', async () => {
    await place.add('deep', '--default');
    place.script = (_request, response) =>
      sendStream(response, replyOf('<think>\nThey gre', 'et me.</th', 'ink>\n\nHello'));
    expect(await place.parley(['chat', '-n', '--reasoning', 'Hi'])).toMatchObject({
      ...{ out: 'Hello\n', err: expect.stringMatching(/^Created a store in .*\nThey greet me\.\n$/) },
    });
    const id = (await place.output(['sessions', 'list', '--ids'])).trim();
    expect(await place.output(['chat', '-n', '-s', id, 'Again'])).toBe('Hello\n');
    expect(await place.output(['sessions', 'messages', id, '--json'])).not.toMatch(/think|greet/);
    expect(place.server.requests.at(-1)?.body).not.toMatch(/think|greet/);
  });

  test('works over TLS with a trusted certificate', async () => {
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

  test('with --debug prints a working command that reads the key from the source of the mode', async () => {
    await place.add('fast', '--key', 'env:MODEL_KEY');
    writeFileSync(join(place.path, "a key's"), 'from-file\n');
    await place.add('by-file', '--key', `file:${join(place.path, "a key's")}`);
    const env = { MODEL_KEY: 'from-variable', PARLEY_API_KEY: '' };
    for (const [mode, key] of [
      ['fast', 'from-variable'],
      ['by-file', 'from-file'],
    ] as const) {
      const { err } = await place.parley(['chat', '-n', '-m', mode, '--debug', 'Hi'], { env });
      const command = /^curl .*$/m.exec(err)?.[0] ?? '';
      expect(command).not.toContain(key);
      expect(await place.shell(command, env)).toMatchObject({ status: 0 });
      expect(place.server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
    }
    expect(place.server.requests).toHaveLength(4);
  });

  test('says which mode replied in place of the one that failed', async () => {
    await place.add('small');
    await place.add('large', '--fallback', 'small');
    place.script = (request, response, count) =>
      count === 1 ? fails(request, response) : sendStream(response, replyOf('Hello'));
    const { out, err } = await place.parley(['chat', '-n', '-m', 'large', 'Hi']);
    expect({ out, err }).toEqual({
      out: 'Hello\n',
      err: expect.stringMatching(
        /The mode large failed: its server 127\.0\.0\.1:\d+ failed \(500\)\. It says: No luck\. The mode small replied\.\n$/,
      ),
    });
  });

  test('says how many turns it left out', async () => {
    await place.add('short', '--context', '256');
    const id = (await place.output(['sessions', 'create'])).trim();
    const long = 'word '.repeat(120);
    for (const _ of [1, 2]) await place.output(['chat', '-n', '-m', 'short', '-s', id, long]);
    const { err } = await place.parley(['chat', '-n', '-m', 'short', '-s', id, long]);
    expect(err).toContain(
      '2 earlier turns were left out: the conversation is estimated to exceed the context of the mode short',
    );
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

  test('is stopped by Ctrl-C within a second, and the received part is stored', async () => {
    await place.add('slow', '--default');
    place.script = (_request, response) => startStream(response).write(sse(chunk({ content: 'Half' })));
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
