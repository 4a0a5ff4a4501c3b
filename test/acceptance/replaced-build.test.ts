// Another version of the program is installed while a server runs, as by `npm install -g`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('a server whose build was replaced still searches, and starts no process of the other version', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['chat', '-n', '-m', 'echo', 'quick']);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  const copy = join(place.path, 'program');
  const dist = join(copy, 'dist');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const server = spawn(process.execPath, [join(copy, 'bin/parley.js'), 'serve', '--port', '0', '--json'], {
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
