// Questions at a terminal without cursor control: no control sequences, and the same answers as elsewhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasNoModelServer } from '../support/machine.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

async function answered(words: readonly string[], answers: readonly (readonly [string, string])[]) {
  const screen = place.screen(words, { env: { TERM: 'dumb', CI: undefined } });
  try {
    for (const [question, keys] of answers) {
      await screen.shows(question);
      screen.type(keys);
    }
    const { status } = await screen.ended;
    expect(screen.bytes).not.toContain('\x1b');
    return { status, text: screen.text };
  } finally {
    screen.close();
  }
}

test('a deletion is confirmed by y, and not by n, Enter, Ctrl-C or Ctrl-D', async () => {
  const ids = [await place.output(['sessions', 'create']), await place.output(['sessions', 'create'])];
  const words = ['sessions', 'delete', ...ids.map((id) => id.trim())];
  const question = 'Delete these 2 sessions? (y/N)';
  for (const [keys, status] of [
    ['n\r', 2],
    ['\r', 2],
    ['\x03', 130],
    ['\x04', 130],
  ] as const) {
    const no = await answered(words, [[question, keys]]);
    expect(no.status).toBe(status);
    expect(no.text).toMatch(/\n(parley: Nothing was deleted|Stopped: nothing was deleted)/);
  }
  expect((await answered(words, [[question, 'y\r']])).status).toBe(0);
  expect(await place.output(['sessions', 'list'])).toBe('');
});

test('a key is read without being shown, and Backspace corrects it', async () => {
  const server = await serve(({ headers, path }, response) => {
    const isValid = headers.authorization === 'Bearer pk_right';
    const data = path.endsWith('/models') ? ['only'] : {};
    if (isValid) sendJson(response, { success: true, data });
    else sendJson(response, { success: false, error: { code: 'INVALID_API_KEY', message: 'No.' } }, 401);
  });
  const words = ['login', '--profile', 'plain', '--url', server.url];
  const { status, text } = await answered(words, [['(not shown):', 'pk_righx\x7ft\r']]);
  await server.close();
  expect(status).toBe(0);
  expect(text).not.toContain('pk_');
  await place.output(['profiles', 'remove', 'plain']);
});

test.runIf(await hasNoModelServer())(
  'the models to set up are selected by their numbers, and again after an invalid number',
  async () => {
    const server = await serve(({ path }, response) =>
      path.endsWith('/models')
        ? sendJson(response, { object: 'list', data: [{ id: 'one' }, { id: 'two' }] })
        : sendJson(response, {
            choices: [{ message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
          }),
    );
    const screen = place.screen(['setup'], {
      env: { TERM: 'dumb', CI: undefined, OLLAMA_HOST: server.url, OPENAI_API_KEY: undefined },
    });
    await screen.shows('(Enter alone: none):');
    screen.type('3\r');
    await screen.shows('Type numbers from 1 to 2.');
    screen.type('2\r');
    await screen.shows('two replied');
    await screen.ended;
    expect(screen.bytes).not.toContain('\x1b');
    expect(screen.text).toContain('1  one (Ollama)\n2  two (Ollama)\n');
    screen.close();
    await server.close();
  },
);
