// The features of this machine: commands, permissions. A test that needs a missing one is skipped; in CI it fails.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { localModelServers } from '../../src/service/model-server.ts';

/** Whether a command is on the PATH. In CI (`CI=true`), a missing one is an error that names it. */
export function hasCommand(name: string): boolean {
  return mayTest(spawnSync('sh', ['-c', `command -v ${name}`]).status === 0, `the command ${name}`);
}

/** Whether no model server runs at a usual port, which `parley setup` would find. The tests give it the address of Ollama. */
export async function hasNoModelServer(): Promise<boolean> {
  const servers = localModelServers.filter(({ name }) => name !== 'Ollama');
  const found = await Promise.all(servers.map(({ base_url }) => isListening(new URL(base_url))));
  return mayTest(!found.includes(true), 'no model server at the usual ports');
}

async function isListening({ hostname, port }: URL): Promise<boolean> {
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Returns whether a test can run here. In CI, a missing feature is an error that names it. */
export function mayTest(isPossible: boolean, need: string): boolean {
  if (!isPossible && process.env['CI'] === 'true') throw new Error(`CI has to have ${need} for this test.`);
  return isPossible;
}
