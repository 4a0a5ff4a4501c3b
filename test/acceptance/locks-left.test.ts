// Work is resumed after its process was killed in another container or before a restart of the machine, where this machine cannot look for it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { batch, resultsOf } from '../support/chat-batch.ts';
import { mayTest } from '../support/machine.ts';
import { Place, programWords } from '../support/parley.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const apart = ['--pid', '--fork', '--kill-child'];
const mayTry = mayTest(
  spawnSync('unshare', [...apart, 'true']).status === 0,
  'the permission to make a namespace of processes',
);

/** Runs a command in a process namespace of its own, as in a container. */
function elsewhere(words: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn('unshare', [...apart, ...programWords, ...words], {
    cwd: place.path,
    env: { ...place.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

test.skipIf(!mayTry)('a deletion is resumed after its process was killed in another container', async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let isSilent = true;
  const server = await serve((request, response) => {
    if (request.path.endsWith('/verify'))
      return sendJson(response, { success: true, data: { project_id: 'prj_1' } });
    if (!isSilent) return sendJson(response, { success: true, data: {} });
    asked();
  });
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key' };
  const child = elsewhere(['sessions', 'delete', 'a', 'b', '--yes'], env);
  await isAsked;
  await killed(child);
  isSilent = false;
  const journal = readdirSync(join(place.dataDirectory, 'batches')).find((name) => name.endsWith('.journal'));
  const words = ['sessions', 'delete', '--resume', (journal ?? '').replace('.journal', '')];
  expect(await place.parley(words, { env })).toMatchObject({ status: 0, out: 'deleted a\ndeleted b\n' });
  await server.close();
});

test.skipIf(!mayTry)('a batch is resumed after its process was killed in another container', async () => {
  await place.output(['models']);
  const file = join(place.path, 'out.ndjson');
  const child = elsewhere([...batch, '--resume', file]);
  child.stdin?.write('a\n');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/\n$/);
  await killed(child);
  const { status } = await place.parley([...batch, '--resume', file], { stdin: 'a\nb\n' });
  expect(status).toBe(0);
  expect(resultsOf({ out: readFileSync(file, 'utf8') }).map(({ id }) => id)).toEqual([1, 2]);
});

test.each(['', '4711 12 another-machine'])(
  'a lock file of an earlier version with the content %j stops no command',
  async (text) => {
    mkdirSync(place.configDirectory, { recursive: true });
    writeFileSync(`${place.configFile}.lock`, text);
    const began = Date.now();
    expect(await place.output(['chat', '-n', '-m', 'echo', 'hi'])).toBe('hi\n');
    expect(Date.now() - began).toBeLessThan(5000);
  },
);
