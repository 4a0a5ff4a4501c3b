// The API suite over a server in another process, which the real program starts: one server for the file, new projects for each test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { openRemote } from '../support/remote.ts';
import { newProjects } from './service-projects.ts';
import { describeService } from './service-suite.ts';

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let owner: EmbeddedBackend;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  owner = await openEmbedded(directory.path);
  server = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], PARLEY_CONFIG_DIR: directory.path, PARLEY_DATA_DIR: directory.path },
  });
  url = await listeningUrl(server);
});

afterAll(async () => {
  await owner.close();
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  await directory.remove();
});

describeService('from a server in another process', async () => {
  // Of hundreds of calls at once, the last one waits long on a busy machine.
  const { backend } = await openRemote(url, { timeout: 30 });
  return { backend, ...(await newProjects(owner)), close: () => backend.close() };
});

async function listeningUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The server has no stdout.');
  let text = '';
  for await (const bytes of stdout) {
    text += bytes;
    if (text.includes('\n')) break;
  }
  return JSON.parse(text).data.url;
}
