// A server is stopped during an endless search: the server ends within its usual time, and so does the search.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { builtFile } from '../support/built-file.ts';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const worker = new URL('../support/endless-worker.js', import.meta.url);

test('SIGTERM ends a server in the middle of a search that never ends', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['models']);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  // The program, with another file for the processes of its store.
  const copy = join(place.path, 'program');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(
    builtFile('store-worker', pathToFileURL(join(copy, 'dist/'))),
    `import(${JSON.stringify(worker.href)})`,
  );
  const server = spawn(process.execPath, [join(copy, 'bin/parley.js'), 'serve', '--port', '0', '--json'], {
    env: { PATH: process.env['PATH'], ...place.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(server, 'close');
  const [line] = await once(server.stdout, 'data');
  const { url } = JSON.parse(String(line)).data;
  const headers = { authorization: `Bearer ${key}` };
  const search = (word: string) => fetch(`${url}/v1/sessions/search?q=${word}`, { headers });
  expect((await search('quick')).status).toBe(200);
  const outcome = Promise.allSettled([search('endless')]);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const start = performance.now();
  server.kill('SIGTERM');
  expect(await closed).toEqual([143, null]);
  // Running requests have two seconds to end.
  expect(performance.now() - start).toBeLessThan(6000);
  expect((await outcome)[0]?.status).toBe('rejected');
});

test('SIGTERM while a process of the store brings its index forward ends a server with the status of the signal', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['models']);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  const server = place.start(['serve', '--port', '0', '--json']);
  const closed = once(server, 'close');
  const [line] = await once(server.stdout, 'data');
  const { url } = JSON.parse(String(line)).data;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ mode: 'echo', message: 'quick' });
  const chat = () => fetch(`${url}/v1/chat`, { method: 'POST', headers, body });
  const answers = await Promise.all(Array.from({ length: 200 }, chat));
  expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
  server.kill('SIGTERM');
  expect(await closed).toEqual([143, null]);
});
