// The same API from a server in another process, started by the real program.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { openRemote } from '../support/remote.ts';
import { describeService } from './service-suite.ts';

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));

describeService('from a server in another process', async () => {
  const directory = await temporaryDirectory();
  const owner = await openEmbedded(directory.path);
  const revoked = await owner.administration.createKey({ project_name: 'first', key_name: 'revoked' });
  await owner.administration.revokeKey(revoked.key_id);
  const server = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], PARLEY_CONFIG_DIR: directory.path, PARLEY_DATA_DIR: directory.path },
  });
  const { home } = await openRemote(await listeningUrl(server));
  return {
    home,
    firstKey: await newKey(owner, 'first'),
    secondKey: await newKey(owner, 'second'),
    revokedKey: revoked.key,
    async close() {
      await home.close();
      await owner.close();
      const ended = once(server, 'exit');
      server.kill();
      await ended;
      await directory.remove();
    },
  };
});

async function listeningUrl(server: ChildProcess): Promise<string> {
  if (server.stdout === null) throw new Error('The server has no stdout.');
  let text = '';
  for await (const bytes of server.stdout) {
    text += bytes;
    if (text.includes('\n')) break;
  }
  return JSON.parse(text).data.url;
}
