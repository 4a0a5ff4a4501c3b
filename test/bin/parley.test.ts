// The executable before main: the versions of Node that it accepts, and the loading of the build.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Script } from 'node:vm';
import { beforeEach, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { allDrivers } from '../support/driver.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { serve } from '../support/scripted-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const parley = join(root, 'bin/parley.js');

/** Runs bin/parley.js as another version of Node would: only its check, without a build. */
function runOn(version: string, place: string): { readonly status: number | null; readonly stderr: string } {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' });`;
  const code = `${pretend} require(${JSON.stringify(join(place, 'bin/parley.js'))});`;
  return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
}

describe('without a build', () => {
  let place = '';
  beforeEach(() => {
    place = temporaryDirectory();
    cpSync(join(root, 'bin'), join(place, 'bin'), { recursive: true });
  });

  test.each(['12.22.12', '18.20.0', '20.18.3', '21.7.3', '22.13.1'])(
    'Node %s is refused by name',
    (version) => {
      expect(runOn(version, place)).toMatchObject({
        status: 1,
        stderr: `Node ${version} is too old: parley needs Node 20.19, 22.14 or newer.\nGet it from https://nodejs.org.\n`,
      });
    },
  );

  test.each(['20.19.0', '22.14.0', '23.0.0', '24.0.0', '26.10.0'])('Node %s is accepted', (version) => {
    expect(runOn(version, place)).toMatchObject({
      status: 1,
      stderr: 'parley is not built yet: dist/main.cjs is missing.\nRun: npm run build\n',
    });
  });
});

test.each([
  ['was not compiled', true, 'npm rebuild better-sqlite3'],
  ['is not installed', false, 'npm install better-sqlite3'],
])('a SQLite that %s is reported with the remedy', (_, isThere, remedy) => {
  const place = temporaryDirectory();
  const library = isThere ? ['node_modules/better-sqlite3/lib', 'node_modules/bindings'] : [];
  for (const folder of ['bin', 'dist', ...library]) {
    // Newer versions find their binding themselves.
    if (!existsSync(join(root, folder))) continue;
    cpSync(join(root, folder), join(place, folder), { recursive: true });
  }
  const manifest = 'node_modules/better-sqlite3/package.json';
  if (isThere) cpSync(join(root, manifest), join(place, manifest));
  const env = {
    PATH: '',
    PARLEY_CONFIG_DIR: join(place, 'config'),
    PARLEY_DATA_DIR: join(place, 'data'),
    PARLEY_SQLITE_DRIVER: 'better-sqlite3',
  };
  const run = spawnSync(process.execPath, [join(place, 'bin/parley.js'), 'verify'], {
    encoding: 'utf8',
    env,
  });
  expect(run.stderr).toMatch(/^parley: SQLite cannot be loaded: .*\. \(CONFIG\)\n/);
  expect(run.stderr).toContain(`\nRun \`${remedy}\` where`);
  expect(run.status).toBe(2);
});

test.runIf(allDrivers.length === 2)('a chat with the SQLite of Node needs no better-sqlite3', () => {
  const place = temporaryDirectory();
  for (const folder of ['bin', 'dist']) cpSync(join(root, folder), join(place, folder), { recursive: true });
  const env = { PATH: '', PARLEY_CONFIG_DIR: join(place, 'config'), PARLEY_DATA_DIR: join(place, 'data') };
  const words = [join(place, 'bin/parley.js'), 'chat', '-n', '-m', 'echo', '--quiet', 'Hello'];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
  expect({ stdout, stderr }).toEqual({ stdout: 'Hello\n', stderr: '' });
});

test('a part of the build that an upgrade has removed is named', () => {
  const place = temporaryDirectory();
  for (const folder of ['bin', 'dist']) cpSync(join(root, folder), join(place, folder), { recursive: true });
  const dist = join(place, 'dist');
  for (const name of readdirSync(dist)) if (name.startsWith('sessions-')) rmSync(join(dist, name));
  const words = [join(place, 'bin/parley.js'), 'sessions', 'list'];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env: { PATH: '' } });
  expect(stderr).toMatch(
    /sessions-.{8}\.cjs is missing: another version may have replaced it\. Start parley again/,
  );
  expect(status).toBe(1);
});

test('the check is the one of the package', () => {
  expect(packageJson.engines).toEqual({ node: '^20.19.0 || >=22.14.0' });
});

test.each(['--version', '-V'])('the version that %s prints is that of the package', (flag) => {
  const { stdout, status } = spawnSync(process.execPath, [parley, flag], { encoding: 'utf8' });
  expect({ stdout, status }).toEqual({ stdout: `${packageJson.version}\n`, status: 0 });
});

test.runIf(process.platform === 'linux')('a version that cannot be written is reported', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { stderr, status } = spawnSync(process.execPath, [parley, '--version'], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    expect(stderr).toContain('ENOSPC');
    expect(status).not.toBe(0);
  } finally {
    closeSync(full);
  }
});

test.runIf(process.platform === 'linux')(
  'the help waits for room in a pipe that itself does not wait',
  async () => {
    const place = temporaryDirectory();
    const fifo = join(place, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const pipe = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const before = Buffer.alloc(60 * 1024, '-');
    writeSync(pipe, before);
    // Node makes its standard streams blocking, and does not change the fourth descriptor.
    const words = ['-c', 'exec "$0" "$1" --help >&3', process.execPath, parley];
    const program = spawn('sh', words, { stdio: ['ignore', 'ignore', 'inherit', pipe] });
    const ended = once(program, 'exit');
    const help = execFileSync(process.execPath, [parley, 'help'], { encoding: 'utf8' });
    const read = Buffer.alloc(before.length + help.length);
    let length = 0;
    while (length < read.length)
      try {
        length += readSync(pipe, read, { offset: length });
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 5)); // Nothing has come yet.
      }
    expect(read.toString()).toBe(`${before}${help}`);
    expect(await ended).toEqual([0, null]);
    closeSync(pipe);
  },
);

describe('the build', () => {
  const dist = join(root, 'dist');
  const chunks = readdirSync(dist).filter((name) => name.endsWith('.cjs'));

  test.each(chunks)('%s does not load the ES module loader', (name) => {
    expect(readFileSync(join(dist, name), 'utf8')).not.toMatch(/(?<![.\w$])import\s*\(/);
  });

  const cacheOf = (version: string): string => `${version}-${process.platform}-${process.arch}.cache`;
  const started = chunks.filter((name) => /^(main|embedded|upstream|remote|_undici)\b/.test(name));
  test('has the chunks that a chat begins with', () => expect(started).toHaveLength(5));

  test.each(started)('%s has a code cache that V8 takes, behind its own text', (name) => {
    const { text, isTaken } = cached(dist, name);
    expect(text).toBe(readFileSync(join(dist, name), 'utf8'));
    expect(isTaken).toBe(true);
  });

  function cached(folder: string, name: string): { readonly text: string; readonly isTaken: boolean } {
    const packed = readFileSync(join(folder, `${name}.${cacheOf(process.version)}`));
    const end = 8 + packed.readUInt32LE(0);
    const text = packed.subarray(8, end).toString('latin1');
    const script = new Script(text, { filename: `dist/${name}`, cachedData: packed.subarray(end) });
    return { text, isTaken: script.cachedDataRejected === false };
  }

  // The V8 of Node 20.19 accepts the code cache of 20.20, and crashes.
  test.each([
    ['this Node is used', process.version, 9],
    ['another release of Node is left alone', 'v20.0.1', 0],
  ])('a code cache made by %s', (_, version, expected) => {
    const place = temporaryDirectory();
    cpSync(join(root, 'bin'), join(place, 'bin'), { recursive: true });
    const file = (name: string) => join(place, 'dist', name);
    mkdirSync(join(place, 'dist'));
    writeFileSync(
      file('main.cjs'),
      `(function (exports, load) { exports.main = () => load('./chunk.cjs'); })`,
    );
    writeFileSync(file('chunk.cjs'), '(function () {})');
    const text = Buffer.from('process.exit(9);'.padEnd(24));
    const head = Buffer.alloc(8);
    head.writeUInt32LE(text.length);
    for (const ending of ['cache', cacheOf(version)])
      writeFileSync(file(`chunk.cjs.${ending}`), Buffer.concat([head, text]));
    const { status } = spawnSync(process.execPath, [join(place, 'bin/parley.js'), '-V']);
    expect(status).toBe(expected);
  });

  describe('on a release of Node for which the package has no code cache', () => {
    let place: string;
    let env: NodeJS.ProcessEnv;
    const program = () => join(place, 'bin/parley.js');
    const run = (words: readonly string[], more: NodeJS.ProcessEnv = {}) =>
      spawnSync(process.execPath, [program(), ...words], { env: { ...env, ...more }, encoding: 'utf8' });
    const chat = ['chat', '-n', '--mode', 'echo', 'hi'];
    const built = () => join(place, 'dist');
    const made = () => readdirSync(built()).filter((name) => /\.(cache|part)$/.test(name));
    const madeChunks = () => made().map((name) => name.replace(/(-[\w-]{8})?\.cjs\..*\.(\w+)$/, ' $2'));
    const isTaken = (chunk: string) => cached(built(), chunk).isTaken;
    const sizeOfMain = () => statSync(join(built(), `main.cjs.${cacheOf(process.version)}`)).size;

    beforeEach(() => {
      place = temporaryDirectory();
      for (const part of ['bin', 'dist', 'package.json'])
        cpSync(join(root, part), join(place, part), {
          recursive: true,
          // A program that was killed at its end leaves a part.
          filter: (path) => !/\.(cache|part)$/.test(path),
        });
      symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
      env = { PATH: process.env['PATH'], HOME: place };
    });

    test('the first commands make it, and V8 takes it', () => {
      expect(run(['help']).status).toBe(0);
      expect(madeChunks()).toEqual(expect.arrayContaining(['main cache', 'commands cache']));
      const sizeAfterHelp = sizeOfMain();
      for (let more = 0; more < 4; more += 1) expect(run(chat).stdout).toBe('hi\n');
      expect(sizeOfMain()).toBeGreaterThan(sizeAfterHelp);
      const chunksOfChat = chunks.filter((name) => /^(main|embedded)\b/.test(name));
      expect(chunksOfChat.map(isTaken)).toEqual([true, true]);
      const size = sizeOfMain();
      expect(run(['sessions', 'list']).status).toBe(0);
      expect(sizeOfMain()).toBe(size);
      expect(madeChunks().filter((name) => name.endsWith('part'))).toEqual([]);
    });

    test('flags of V8 make none', () => {
      expect(run(chat, { NODE_OPTIONS: '--max-old-space-size=500' }).stdout).toBe('hi\n');
      expect(made()).toEqual([]);
    });

    test('a command that sets a flag itself makes one that V8 takes without it', () => {
      const far = ['chat', '-n', '--url', 'http://parley.test', '--insecure-http', 'hi'];
      const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '', PARLEY_API_KEY: 'none' };
      expect(run(far, proxy).status).toBe(6);
      const chunksOfRemote = chunks.filter((name) => /^(main|remote|http|_undici)\b/.test(name));
      expect(chunksOfRemote.map(isTaken)).toEqual([true, true, true, true]);
    });

    test('a server that ends after an upgrade leaves the new version as it is', async () => {
      const server = spawn(process.execPath, [program(), 'serve', '--port', '0'], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      await once(server.stdout, 'data');
      writeFileSync(join(place, 'dist/main.cjs'), 'of another version');
      server.kill('SIGTERM');
      await once(server, 'exit');
      expect(madeChunks()).not.toContain('main cache');
    });
  });

  /** The path of a script to preload: it prints on stderr each loaded chunk and, at the end, whether a module of Node was loaded. */
  function tellingChunks(place: string, module: string): string {
    const path = join(place, 'tell.cjs');
    writeFileSync(
      path,
      `const vm = require('node:vm');
      const Script = vm.Script;
      vm.Script = class extends Script {
        constructor(source, options) {
          super(source, options);
          process._rawDebug(/([a-z-]+?)(-[\\w-]{8})?\\.cjs$/.exec(options.filename)[1]);
        }
      };
      process.on('exit', () => process._rawDebug('${module}: ' + process.moduleLoadList.includes('NativeModule ${module}')));`,
    );
    return path;
  }

  // The build refuses chunks of a turn that contain other code.
  test('a command loads the chunks that it needs', () => {
    const place = temporaryDirectory();
    const preload = tellingChunks(place, 'crypto');
    const env = { PATH: process.env['PATH'], HOME: place };
    const loaded = (...words: string[]) => {
      const ended = spawnSync(process.execPath, ['-r', preload, parley, ...words], { env, encoding: 'utf8' });
      expect(ended.status).toBe(0);
      return ended.stderr.trim().split('\n');
    };
    const chat = ['chat', '-n', '--mode', 'echo', 'hi'];
    loaded(...chat);
    expect(loaded('--version')).toEqual(['crypto: false']);
    for (const flag of ['--help', '-h']) expect(loaded(flag)).toEqual(['crypto: false']);
    expect(loaded(...chat)).toEqual(['main', 'chat', 'embedded', 'crypto: false']);
    expect(loaded('sessions', 'list')).toEqual(['main', 'sessions', 'embedded', 'crypto: false']);
  });

  test('a chat with a mode of its user loads the client of a model server besides, and no module of Node for clocks', async () => {
    const place = temporaryDirectory();
    const preload = tellingChunks(place, 'perf_hooks');
    const server = await serve((_request, response) => sendStream(response, replyOf('Hello')));
    const env = { PATH: process.env['PATH'], HOME: place };
    const loaded = async (...words: string[]) => {
      const { stderr } = await promisify(execFile)(process.execPath, ['-r', preload, parley, ...words], {
        env,
      });
      return stderr.trim().split('\n');
    };
    try {
      await loaded('modes', 'add', 'model', '--base-url', `${server.url}/v1`, '--model', 'm');
      const chat = ['chat', '-n', 'hi', '--mode'];
      await loaded(...chat, 'echo');
      expect(await loaded(...chat, 'echo')).toEqual(['main', 'chat', 'embedded', 'perf_hooks: false']);
      expect(await loaded(...chat, 'model')).toEqual([
        'main',
        'chat',
        'embedded',
        'upstream',
        'http',
        'perf_hooks: false',
      ]);
    } finally {
      await server.close();
    }
  });

  test('a chat over the embedded service loads no module of Node that it can do without', () => {
    const place = temporaryDirectory();
    const preload = join(place, 'tell.cjs');
    writeFileSync(
      preload,
      `process.on('exit', () => process._rawDebug(process.moduleLoadList.join('\\n')));`,
    );
    const modulesWith = (
      [stdin, stdout]: readonly ('ignore' | 'pipe' | number)[],
      words: readonly string[],
    ) => {
      const env = { PATH: process.env['PATH'], HOME: place };
      const ended = spawnSync(process.execPath, ['-r', preload, ...words], {
        ...{ env, encoding: 'utf8' },
        stdio: [stdin ?? 'ignore', stdout ?? 'ignore', 'pipe'],
      });
      expect(ended.status).toBe(0);
      return ended.stderr.split('\n').map((line) => line.replace(/^\w+ /, ''));
    };
    const modules = (...words: string[]) => modulesWith(['ignore', 'pipe'], words);
    const chat = [parley, 'chat', '-n', '--mode', 'echo', 'hi'];
    modules(...chat);
    const bare = new Set(modules('-e', '0'));
    const added = modules(...chat).filter((name) => !bare.has(name));
    expect(added).toContain('vm');
    expect(
      added.filter((name) => /^os$|perf_hooks|timers\/promises|https?$|worker|child_process/.test(name)),
    ).toEqual([]);
    if (process.platform !== 'linux') return;
    // The same with the reply in a file.
    const file = openSync(join(place, 'reply'), 'w');
    for (const stdout of [file, 'ignore'] as const)
      expect(modulesWith(['ignore', stdout], chat).filter((name) => /^(net|tty|stream)$/.test(name))).toEqual(
        [],
      );
    closeSync(file);
    expect(readFileSync(join(place, 'reply'), 'utf8')).toBe('hi\n');
    // The same with the message in a pipe, whose writer has ended.
    spawnSync('mkfifo', [join(place, 'pipe')]);
    const stdin = openSync(join(place, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    writeFileSync(join(place, 'pipe'), 'hi');
    const piped = modulesWith([stdin, 'pipe'], [parley, 'chat', '--mode', 'echo']);
    closeSync(stdin);
    expect(piped.filter((name) => !bare.has(name) && !added.includes(name))).toEqual([]);
  });
});
