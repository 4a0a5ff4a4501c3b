// A turn whose model fails: its message is stored, and the printed command repeats that turn.

import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunk, replyOf, sendStream, sse, startStream } from '../support/model-server.ts';
import { outcomeOf } from '../support/parley.ts';
import { fails, PlaceWithModel } from '../support/place-with-model.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceWithModel;
beforeEach(async () => {
  place = await PlaceWithModel.open();
});
afterEach(() => place.close());

/** The printed command that repeats the turn. */
const toRepeat = (text: string) => /parley chat --idempotency-key .*$/m.exec(text)?.[0] ?? '';

describe('a chat that fails', () => {
  test('stores the message, and the printed command repeats the turn without storing it twice', async () => {
    await place.add('fast', '--default');
    place.script = fails;
    const failed = await place.parley(['chat', '-n', "it's me"]);
    expect(failed).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringMatching(/The mode fast failed.*\(ENGINE_FAILED\)/),
    });
    const command = toRepeat(failed.err);
    place.script = (_request, response) => sendStream(response, replyOf('Hello'));
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

  test.each(['--json', '--json-stream'])('with %s prints the same command beside the body', async (flag) => {
    await place.add('fast', '--default');
    place.script = fails;
    const failed = await place.parley(['chat', '-n', flag, 'Hi']);
    const body = JSON.parse(failed.out.trim().split('\n').at(-1) ?? '');
    expect(body).toMatchObject({
      success: false,
      error: { code: 'ENGINE_FAILED', session_id: expect.stringMatching(/^ses_/) },
    });
    expect(failed.out).not.toContain('idempotency-key');
    const command = toRepeat(failed.err);
    expect(command).toContain(` ${flag} `);
    place.script = (_request, response) => sendStream(response, replyOf('Hello'));
    const again = await place.shell(command);
    expect(again.status).toBe(0);
    expect(JSON.parse(again.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      data: { reply: 'Hello', session_id: body.error.session_id, message_count: 2 },
    });
  });

  test.each([
    [['--jq', '.data.reply | length']],
    [['--json-stream', '--jq', '.event']],
    [['--extract-code=last']],
    [['--extract-code']],
  ])('with %j prints a command with the same output', async (flags) => {
    await place.add('fast', '--default');
    place.script = fails;
    const { err } = await place.parley(['chat', '-n', 'Hi', ...flags]);
    const written = flags.map((flag) =>
      flag.includes(' ') ? `'${flag}'` : flag.replace(/code$/, 'code=first'),
    );
    for (const flag of written) expect(toRepeat(err)).toContain(` ${flag} `);
  });

  test('prints a command that repeats the same turn, whatever was done since', async () => {
    await place.add('fast', '--default');
    await place.output(['chat', '-n', 'Hi']);
    place.script = fails;
    const failed = await place.parley(['chat', '-n', '-c', '--usage', '--', '-x is my flag']);
    await place.output(['chat', '-n', '-m', 'echo', 'Elsewhere']);
    await place.output(['modes', 'default', 'echo']);
    place.script = (_request, response) => sendStream(response, replyOf('Hello'));
    const command = toRepeat(failed.err);
    expect(failed.err.split('Try again')).toHaveLength(2);
    expect(await place.shell(command)).toMatchObject({
      status: 0,
      out: 'Hello\n',
      err: 'tokens: 11 in, 3 out\n',
    });
    const sessions = await place.answer<{ items: readonly { message_count: number }[] }>([
      'sessions',
      'list',
    ]);
    expect(sessions.items.map(({ message_count }) => message_count)).toEqual([4, 2]);
  });

  test('because it was stopped says what is kept', async () => {
    await place.add('slow', '--default');
    const stoppedAfter = async (text: string) => {
      place.script = (_request, response) => {
        if (text !== '') startStream(response).write(sse(chunk({ content: text })));
        else child.kill('SIGINT');
      };
      const child = place.start(['chat', '-n', 'Hi']);
      child.stdout.once('data', () => child.kill('SIGINT'));
      return outcomeOf(child);
    };
    const early = await stoppedAfter('');
    expect(early.status).toBe(130);
    expect(early.err).toMatch(/^Stopped\. The message is kept in session ses_\w+\.$/m);
    const late = await stoppedAfter('Hel');
    expect(late.status).toBe(130);
    expect(late.err).toMatch(/^Stopped\. The reply so far is kept in session ses_\w+\.$/m);
  });

  test('at another service prints a command for exactly that service', async () => {
    await place.add('fast', '--default');
    place.script = fails;
    const served = await servePlace(place);
    try {
      const { url } = served;
      const env = { PARLEY_API_KEY: (await place.output(['keys', 'create', '--project', 'p'])).trim() };
      const { err } = await place.parley(['chat', '-n', '--url', url, 'Hi'], { env });
      expect(err).toMatch(
        /^Try again without storing anything twice: parley chat --idempotency-key \S+ -m fast --url http.* -n Hi$/m,
      );
      expect(err).toContain(` --url ${url} `);
    } finally {
      await served.end('SIGTERM');
    }
  });

  test('because its server was killed prints a command that stores nothing twice', async () => {
    await place.add('fast', '--default');
    place.script = (_request, response) => startStream(response).write(sse(chunk({ content: 'Hel' })));
    const served = await servePlace(place);
    const env = { PARLEY_API_KEY: (await place.output(['keys', 'create', '--project', 'p'])).trim() };
    const child = place.start(['chat', '-n', '--url', served.url, 'Hi'], env);
    const failure = outcomeOf(child);
    await once(child.stdout, 'data');
    await served.end('SIGKILL');
    const failed = await failure;
    expect(failed).toMatchObject({ status: 6, err: expect.stringContaining('(INCOMPLETE_REPLY)') });
    place.script = (_request, response) => sendStream(response, replyOf('Hello'));
    const again = await servePlace(place, ['--port', `${served.port}`]);
    try {
      expect(await place.shell(toRepeat(failed.err), env)).toMatchObject({ status: 0, out: 'Hello\n' });
      const words = ['sessions', 'list', '--url', again.url, '--jq', '.data.items[].message_count'];
      expect(await place.parley(words, { env })).toMatchObject({ out: '2\n' });
    } finally {
      await again.end('SIGTERM');
    }
  });
});
