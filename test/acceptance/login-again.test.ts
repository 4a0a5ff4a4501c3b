// After a refused key, the command that the error suggests works, with and without an existing profile.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import type { Variables } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

let place: PlaceInProcess;
let server: ScriptedServer;
beforeAll(async () => {
  server = await serve(({ path, headers }, response) =>
    headers.authorization === 'Bearer right'
      ? sendJson(response, { success: true, data: path.endsWith('/models') ? ['only'] : {} })
      : sendJson(response, { success: false, error: { code: 'INVALID_API_KEY', message: 'No.' } }, 401),
  );
});
afterAll(() => server.close());
beforeEach(() => {
  place = new PlaceInProcess();
  return () => place.remove();
});

type Row = readonly [string, (url: string) => readonly string[], (url: string) => Variables, RegExp];

test.each<Row>([
  ['--url', (url) => ['--url', url], () => ({}), /login --profile 127\S+ --url http:\S+$/],
  [
    '--url and a variable',
    (url) => ['--url', url],
    () => ({ PARLEY_API_KEY: 'old' }),
    /login --profile 127\S+ --url http:\S+$/,
  ],
  ['PARLEY_URL', () => [], (url) => ({ PARLEY_URL: url }), /login --profile 127\S+ --url http:\S+$/],
  [
    '--url and --profile',
    (url) => ['--url', url, '--profile', 'mine'],
    () => ({}),
    /login --profile mine --url http:\S+$/,
  ],
])('of a login with %s', async (_name, words, variables, command) => {
  const env = variables(server.url);
  const refused = await place.parley(['login', ...words(server.url), '--key-stdin'], { stdin: 'wrong', env });
  expectFailure(refused, { status: 4, code: 'INVALID_API_KEY' });
  const [, given = ''] = /^Log in with another key: (.*)$/m.exec(refused.err) ?? [];
  expect(given).toMatch(command);
  const again = await place.shell(`printf right | ${given} --key-stdin`);
  expect(again).toMatchObject({ status: 0, err: expect.stringContaining('The key is stored in profile') });
});

test('of a login with a profile that there is', async () => {
  const first = ['login', '--url', server.url, '--profile', 'mine', '--key-stdin'];
  await place.output(first, { stdin: 'right' });
  const refused = await place.parley(['login', '--key-stdin'], { stdin: 'wrong' });
  expect(refused.err).toMatch(/^Log in with another key: parley login --profile mine$/m);
});
