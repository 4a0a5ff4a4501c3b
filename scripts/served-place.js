// The servers of the benchmarks, each in a process of its own: `parley serve`, and scripts that report the address on which they listen. The
// caller collects them in `children` and ends them. And the keys for them.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { run } from './measure.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));

/** A new key for the store of this environment, which is created if it does not exist. */
export function createKey(env, project = 'bench') {
  const words = [parley, 'keys', 'create', '--project', project];
  return run(words, { env, expect: (text) => text !== '' }).output.trim();
}

/** `parley serve` over the store of `env`, without a rate limit. */
export async function serveParley(env, children) {
  const words = [parley, 'serve', '--port', '0', '--json', '--quiet', '--rate-limit', '1000000'];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const died = death(child, 'parley serve');
  const [line] = await Promise.race([once(child.stdout, 'data'), died]);
  return { url: JSON.parse(line).data.url, pid: child.pid };
}

/** Starts a script of this folder. `first` is its first message. */
export async function forkedScript(name, words, { env, children }) {
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), words, { env });
  children.push(child);
  const died = death(child, name);
  const [first] = await Promise.race([once(child, 'message'), died]);
  return { child, died, first };
}

/** Sends a message to such a script, and resolves to its response. */
export async function ask({ child, died }, message) {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = await Promise.race([answered, died]);
  return answer;
}

/** Rejects when the process ends. At the end of the benchmark nobody awaits it. */
function death(child, name) {
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} ended with ${code}.`);
  });
  died.catch(() => {});
  return died;
}
