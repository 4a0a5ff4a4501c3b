// Runs each step of docs/deploy/Containerfile in a bare Debian, and then its command with its health check: `node scripts/check-container.js
// [--root DIRECTORY]`, as root on Linux x64. No image is built: debootstrap creates the root in place of the base image, and Node of its
// version is copied to the place where that image has it. `--root` names a directory that debootstrap has filled. It needs the registries of
// Debian and npm.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';
import { fetchRuntime } from './node-runtime.js';
import { temporaryDirectory } from './temporary-directory.js';

/** The `PATH` of the base image. */
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const repository = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({ options: { root: { type: 'string' } } });
const home = temporaryDirectory();
const root = join(home, 'root');
const volume = join(home, 'volume');

const { readContainerfile } = await loadedModules(home, ['test/support/containerfile.ts']);
const file = readContainerfile(join(repository, 'docs/deploy/Containerfile'));
timed('a bare Debian', () => makeRoot());
timed(`in place of ${file.from}: Node and npm`, () => addNode(/node:(\d+)/.exec(file.from)[1]));
run(process.execPath, [join(repository, 'scripts/pack.js'), '--to', home]);
for (const step of file.steps) {
  if (step.kind === 'COPY') timed(`COPY ${step.from}`, () => copy(step));
  else timed(`RUN ${step.line}`, () => runInRoot(step.line));
}
const [place] = file.volumes;
// As a container engine does with a new volume: it gets the files of the image at this path, and their owner.
run('cp', ['-a', join(root, place), volume]);
const image = { ...file, place, ...userOf(file.user) };
const key = await checkServer(image, async (server) => {
  const key = server.exec('parley', 'keys', 'create', '--project', 'team').trim();
  expect(server.ask(key, 'chat', '-n', '-m', 'echo', 'Hello'), 'Hello\n', 'a reply');
  return key;
});
await checkServer(image, (server) => {
  const [session] = server.ask(key, 'sessions', 'list').split('\n');
  expect(session.split('\t').at(-1), 'Hello', 'the session of before');
});
tell(
  'Not run: an image builder, the base image itself, VOLUME and the times of HEALTHCHECK as an engine keeps them.',
);

function makeRoot() {
  if (options.root === undefined) run('debootstrap', ['--variant=minbase', 'bookworm', root]);
  else run('cp', ['-a', resolve(options.root), root]);
}

/** Uses npm of this machine, with its registry settings. */
function addNode(major) {
  const { bin } = fetchRuntime(major, join(home, 'runtime'));
  const local = join(root, 'usr/local');
  cpSync(join(bin, 'node'), join(local, 'bin/node'));
  const npm = dirname(dirname(realpathSync(run('sh', ['-c', 'command -v npm']).trim())));
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  const authorities = run('npm', ['config', 'get', 'cafile']).trim();
  if (authorities !== 'null') cpSync(authorities, join(root, 'tmp/authorities.pem'));
}

function copy({ from, to }) {
  const pattern = new RegExp(`^${from.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  const found = readdirSync(home).filter((name) => pattern.test(name));
  if (found.length !== 1) throw new Error(`${from} matches ${found.join(', ') || 'nothing'}.`);
  cpSync(join(home, found[0]), join(root, to, basename(found[0])));
}

/** Runs a step as an image builder does: in a shell in the root, with the npm settings of this machine, which are removed after the step. */
function runInRoot(line) {
  const npm = { npm_config_registry: run('npm', ['config', 'get', 'registry']).trim() };
  if (readdirSync(join(root, 'tmp')).includes('authorities.pem'))
    npm.npm_config_cafile = '/tmp/authorities.pem';
  const env = { PATH: path, HOME: '/root', ...npm };
  run('chroot', [root, '/bin/sh', '-euc', line], { env });
}

function userOf(name) {
  const line = readFileSync(join(root, 'etc/passwd'), 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  const [, , uid, gid, , directory] = line.split(':');
  return { uid, gid, directory };
}

/** Starts the command as process 1 of a container, over a read-only root and the volume, uses it, and stops it. */
async function checkServer(image, use) {
  const { env, uid, gid, place, command, directory } = image;
  const variables = { PATH: path, HOME: directory, ...env };
  const script = `
    ip link set lo up
    mount --bind "$1" "$1" && mount --bind "$2" "$1$3" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc"
    cd / && shift 3 && exec "$@"`;
  const words = ['chroot', `--userspec=${uid}:${gid}`, '--groups=', root, ...command];
  const spaces = ['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child'];
  const container = spawn('unshare', [...spaces, 'sh', '-euc', script, 'sh', root, volume, place, ...words], {
    env: variables,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  container.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = once(container, 'exit');
  const started = performance.now();
  const inside = (...words) => {
    const to = [
      '--target',
      String(childOf(container.pid)),
      '--mount',
      '--pid',
      '--net',
      '--root',
      '--setuid',
      uid,
      '--setgid',
      gid,
    ];
    return spawnSync('nsenter', [...to, ...words], { env: variables, encoding: 'utf8' });
  };
  try {
    while (inside(...image.health).status !== 0) {
      if (container.exitCode !== null || performance.now() - started > 30_000)
        throw new Error(`Not healthy: ${log}`);
      await delay(50);
    }
    tell(`healthy after ${((performance.now() - started) / 1000).toFixed(1)} s, as user ${uid}`);
    const exec = (...words) => checked(inside(...words), words);
    const ask = (key, ...words) =>
      exec('env', `PARLEY_URL=http://127.0.0.1:${image.port}`, `PARLEY_API_KEY=${key}`, 'parley', ...words);
    const result = await use({ exec, ask });
    process.kill(childOf(container.pid), 'SIGTERM');
    const [status] = await ended;
    expect(status, 143, 'the exit status after SIGTERM');
    return result;
  } finally {
    container.kill('SIGKILL');
  }
}

/** Process 1 of the container, unshare's only child; null before it exists. */
function childOf(parent) {
  const children = readdirSync('/proc').filter((name) => {
    try {
      const [, ppid] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ');
      return Number(ppid) === parent;
    } catch {
      return false;
    }
  });
  return children.length === 0 ? null : Number(children[0]);
}

function expect(found, expected, what) {
  if (found !== expected)
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  tell(`${what}: ${JSON.stringify(found)}`);
}

function timed(what, work) {
  const start = performance.now();
  work();
  tell(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function tell(line) {
  process.stdout.write(`${line}\n`);
}

function run(file, words, more = {}) {
  return checked(spawnSync(file, words, { encoding: 'utf8', maxBuffer: 2 ** 26, ...more }), [file, ...words]);
}

function checked({ status, stdout, stderr, error }, words) {
  if (status !== 0)
    throw new Error(`${words.join(' ')}: exit ${status} ${error ?? ''}\n${stdout}\n${stderr}`);
  return stdout;
}
