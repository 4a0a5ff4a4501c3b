// The output of `modes test`, `doctor` and `setup` about modes and their servers.
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { hasNoModelServer } from '../support/machine.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { fails, PlaceWithModel } from '../support/place-with-model.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

const isQuiet = await hasNoModelServer();

let place: PlaceWithModel;
beforeEach(async () => {
  place = await PlaceWithModel.open();
});
afterEach(() => place.close());

describe('modes test', () => {
  test('shows the reply, its duration and its tokens, and leaves no session', async () => {
    await place.add('fast', '--default');
    const { status, out, err } = await place.parley(['modes', 'test']);
    expect({ status, out }).toEqual({ status: 0, out: 'Hello to you.\n' });
    expect(err).toMatch(/fast replied in \d+\.\d s; tokens: 11 in, 3 out\.\n$/);
    expect(await place.output(['sessions', 'list'])).toBe('');
    expect(await place.answer(['modes', 'test', 'echo'])).toEqual({
      ...{ mode: 'echo', reply: 'Say hello in one short sentence.', usage: null },
      milliseconds: expect.any(Number),
    });
  });

  test('fails as a chat does, and does not mention the session that it removed', async () => {
    await place.add('fast');
    place.script = fails;
    const outcome = await place.parley(['modes', 'test', 'fast']);
    expectFailure(outcome, { status: 1, code: 'ENGINE_FAILED' });
    expect(outcome.err).toContain('It says: No luck.');
    expect(outcome.err).not.toContain('ses_');
    expect(await place.output(['sessions', 'list'])).toBe('');
  });

  test('of a missing mode sends nothing, and says how to add one', async () => {
    const { err } = await place.parley(['modes', 'test', 'none']);
    expect(err).toContain('Add a mode: parley setup, or parley modes add');
    expect(err).not.toContain('Sending');
  });

  test('fails if the fallback of the mode replied', async () => {
    await place.add('fast', '--fallback', 'echo');
    place.script = fails;
    const outcome = await place.parley(['modes', 'test', 'fast']);
    expectFailure(outcome, { status: 1, code: 'ENGINE_FAILED' });
    expect(outcome.err).toMatch(/The mode fast failed: its server .* failed \(500\)\. It says: No luck\./);
    expect(outcome.err).toContain('Its fallback echo replied.');
  });
});

describe('the context of a mode', () => {
  const context = (name: string) => place.answer<{ context: object }>(['modes', 'show', name]);
  const long = (word: string) => word.repeat(5000);

  test('is the size that its server reports, and as much of a long conversation is sent', async () => {
    let sizes: object = { meta: { n_ctx: 65_536 } };
    place.script = ({ method }, response) =>
      method === 'GET'
        ? sendJson(response, { data: [{ id: 'm', ...sizes }] })
        : sendStream(response, replyOf('Yes.'));
    await place.add('here', '--default');
    expect(await context('here')).toMatchObject({
      context_tokens: null,
      context: { tokens: 65_536, source: 'server' },
    });
    const sent = () => JSON.parse(place.server.requests.at(-1)?.body ?? '').messages.length;
    await place.output(['chat', '-n', long('one ')]);
    const second = await place.parley(['chat', '-n', '-c', long('two ')]);
    expect({ sent: sent(), err: second.err }).toEqual({ sent: 3, err: '' });
    sizes = {};
    const third = await place.parley(['chat', '-n', '-c', 'three']);
    expect(sent()).toBe(3);
    expect(third.err).toContain('1 earlier turn was left out');
    expect(await context('here')).toMatchObject({ context: { tokens: 8192, source: 'here' } });
  });

  test('is unlimited for servers on other machines, unless a size is set', async () => {
    await place.output(['modes', 'add', 'far', '--base-url', 'https://model.invalid/v1', '--model', 'm']);
    expect(await context('far')).toMatchObject({ context: { tokens: null, source: 'elsewhere' } });
    expect(await place.output(['modes', 'show', 'far'])).toContain(
      'context_tokens: everything (default for other machines;',
    );
    await place.output(['modes', 'set', 'far', '--context', '16000']);
    expect(await context('far')).toMatchObject({
      context_tokens: 16_000,
      context: { tokens: 16_000, source: 'set' },
    });
    await place.output(['modes', 'set', 'far', '--context', '']);
    expect(await context('far')).toMatchObject({ context_tokens: null });
  });

  test('and its temperature and longest reply are removed by an empty value', async () => {
    await place.add('here', '--temperature', '1', '--max-tokens', '9');
    await place.output(['modes', 'set', 'here', '--temperature', '', '--max-tokens', '']);
    expect(await place.answer(['modes', 'show', 'here'])).toMatchObject({
      temperature: null,
      parameters: {},
    });
  });
});

describe('doctor', () => {
  test('reports for each server of a mode on this machine whether it responds, and contacts no other', async () => {
    const gone = await serve(() => {});
    await gone.close();
    await place.add('here');
    await place.output(['modes', 'add', 'gone', '--base-url', gone.url, '--model', 'm']);
    const far = ['--base-url', 'https://model.invalid/v1', '--model', 'm', '--key'];
    await place.output(['modes', 'add', 'far', ...far, 'env:SET']);
    await place.output(['modes', 'add', 'unset', ...far, 'env:NOT_SET']);
    place.script = (_request, response) => sendJson(response, { data: [{ id: 'm' }] });
    const { status, out } = await place.parley(['doctor'], { env: { SET: 'sk' } });
    const { host } = new URL(place.server.url);
    expect(out).toContain(
      [
        `note model servers ${host} responds (here)`,
        `${new URL(gone.url).host} does not respond: nothing is listening there (gone)`,
        'model.invalid was not contacted (far)',
        'model.invalid has no key: NOT_SET is not set (unset)',
        '--online contacts the others',
      ].join(`\n${' '.repeat(19)}`),
    );
    expect(out).toContain(
      ' contacts the others\n     To see the settings of a mode: parley modes show gone\n',
    );
    expect(status).toBe(0);
    expect(place.server.requests.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  test('names the file of a key that cannot be read', async () => {
    await place.add('here', '--key', 'file:/nonexistent');
    const { host } = new URL(place.server.url);
    expect(await place.output(['doctor'])).toContain(
      `note model servers ${host} has no key: the file /nonexistent cannot be read (ENOENT) (here)\n`,
    );
  });

  test('with --online contacts the servers elsewhere, too', async () => {
    await place.output(['modes', 'add', 'far', '--base-url', 'https://model.invalid/v1', '--model', 'm']);
    // The proxy does not exist, so that nothing leaves this machine.
    const { out } = await place.parley(['doctor', '--online'], {
      env: { HTTPS_PROXY: 'http://127.0.0.1:9' },
    });
    expect(out).toMatch(/note model servers model\.invalid .*(proxy|listening)/);
    expect(out).not.toContain('--online contacts');
  });
});

describe('setup at a terminal', () => {
  test('filters a long list while typing, and accepts several of it', async () => {
    const ids = Array.from({ length: 300 }, (_, at) => `model-${at}`);
    const many = await serve(({ method }, response) =>
      method === 'GET'
        ? sendJson(response, { data: ids.map((id) => ({ id })) })
        : sendStream(response, replyOf('Here.')),
    );
    try {
      const typing = [
        { after: 'Which models should become modes?', keys: 'odel-217' },
        { after: '[ ] model-217', keys: '\r' },
        { after: 'Continue with 1 selected', keys: '42' },
        { after: '[ ] model-42', keys: '\r' },
        { after: 'Continue with 2 selected', keys: '\r' },
        { after: 'Which one should be', keys: '\r' },
      ];
      const env = { OLLAMA_HOST: `127.0.0.1:${many.port}` };
      const { status, out } = await place.terminal('parley setup', env, typing);
      expect({ status, out: stripVTControlCharacters(out) }).toEqual({
        status: 0,
        out: expect.stringContaining('model-42 replied, and is now the default mode.'),
      });
      const modes = await place.answer<readonly { name: string }[]>(['modes', 'list']);
      expect(modes.map(({ name }) => name)).toEqual(['model-42', 'model-217', 'eliza', 'echo']);
    } finally {
      await many.close();
    }
  }, 30_000);

  test.runIf(isQuiet)(
    'asks for a URL and for the source of its key if nothing else is found',
    async () => {
      place.script = ({ method }, response) =>
        method === 'GET'
          ? sendJson(response, { data: [{ id: 'own-model' }] })
          : sendStream(response, replyOf('Mine.'));
      const typing = [
        { after: 'Base URL of a model server', keys: '127.0.0.1:9\r' },
        { after: 'The URL has no scheme. Use http://127.0.0.1:9', keys: `${place.server.url}/v1\r` },
        { after: 'Where is its key?', keys: 'env:OWN_KEY\r' },
        { after: 'Which models should become modes?', keys: '\r' },
      ];
      const env = { OLLAMA_HOST: '127.0.0.1:9', OWN_KEY: 'sk-own' };
      const { status, out } = await place.terminal('parley setup', env, typing);
      expect({ status, out: stripVTControlCharacters(out) }).toEqual({
        status: 0,
        out: expect.stringContaining('own-model replied, and is now the default mode.'),
      });
      expect(place.server.requests.map(({ headers }) => headers.authorization)).toEqual([
        'Bearer sk-own',
        'Bearer sk-own',
      ]);
    },
    30_000,
  );

  test.runIf(isQuiet)(
    'says that a provider cannot be reached, and not how to install another',
    async () => {
      const gone = await serve(() => {});
      await gone.close();
      const env = {
        OLLAMA_HOST: '127.0.0.1:9',
        OPENAI_API_KEY: 'sk-canary',
        OPENAI_BASE_URL: `${gone.url}/v1`,
      };
      const typing = [
        { after: 'OPENAI_API_KEY is set', keys: 'y\r' },
        { after: 'Base URL of a model server', keys: '\r' },
      ];
      const { status, out } = await place.terminal('parley setup', env, typing);
      expect(status).toBe(1);
      // The terminal has 80 columns, at which notices are wrapped.
      expect(out.replace(/\s+/g, ' ')).toContain(
        `OpenAI (${gone.url}/v1) lists no models: nothing is listening there. (NOT_FOUND)`,
      );
      expect(out).not.toMatch(/Install|canary/);
    },
    30_000,
  );
});
