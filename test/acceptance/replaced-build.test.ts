// Another version of the program is installed while a server or the REPL runs, as by `npm install -g`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A copy of the program, whose files a test may remove. */
function copyOfProgram(place: Place): { readonly program: string; readonly dist: string } {
  const copy = join(place.path, 'program');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return { program: join(copy, 'bin/parley.js'), dist: join(copy, 'dist') };
}

test('a server whose build was replaced still searches, and starts no process of the other version', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['chat', '-n', '-m', 'echo', 'quick']);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  const { program, dist } = copyOfProgram(place);
  const server = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    env: { PATH: process.env['PATH'], ...place.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = await once(server.stdout, 'data');
  const { url } = JSON.parse(String(line)).data;

  const started = join(place.path, 'started');
  for (const name of readdirSync(dist)) if (name.startsWith('store-worker')) rmSync(join(dist, name));
  // An older version gave this file one name.
  for (const name of ['store-worker.cjs', 'store-worker-another0.cjs'])
    writeFileSync(join(dist, name), `require('node:fs').writeFileSync(${JSON.stringify(started)}, '');`);

  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/v1/sessions/search?q=quick`, { headers });
  const { data } = (await answer.json()) as { readonly data: { readonly items: readonly unknown[] } };
  expect([answer.status, data.items.length]).toEqual([200, 1]);
  expect(existsSync(started)).toBe(false);
});

test('a REPL whose build was replaced says so, keeps the message, and says how to continue', async () => {
  const place = removeAfterTest(new Place());
  const { program, dist } = copyOfProgram(place);
  const session = await place.newSession();
  const screen = place.lineScreen(`exec '${process.execPath}' '${program}' repl -m echo -s ${session}`);
  onTestFinished(() => screen.close());
  await screen.until('a prompt', () => /> ?$/.test(screen.cursorRow));
  rmSync(dist, { recursive: true });
  screen.type('Hello there\r');
  await screen.until('the failure', () => screen.text.includes('another version may have replaced it'));
  await screen.until('the message at a prompt', () => /> Hello there$/.test(screen.cursorRow));
  screen.type('\x15/quit\r');
  expect((await screen.ended).status).toBe(0);
  expect(screen.text).toContain(`Continue with: parley repl -s ${session}`);
});

test('a version that is copied over another one runs, although a code cache of the other one is left', async () => {
  const place = removeAfterTest(new Place());
  const { program, dist } = copyOfProgram(place);
  expect(readdirSync(dist).filter((name) => /^main\.cjs\..*\.cache$/.test(name))).toHaveLength(1);
  writeFileSync(
    join(dist, 'main.cjs'),
    `(function (exports) { exports.main = () => process.stdout.write('the new version'); })`,
  );
  const { out } = await place.shell(`'${process.execPath}' '${program}' models`);
  expect(out).toBe('the new version');
});
