// Installs the packed file as a user does, under several Nodes, uses it, and prints the time and space of this: `node scripts/check-package.js
// [FILE] [--node VERSION]…`. Without a file it packs the build. Each install has an empty prefix, an empty npm cache, no install scripts and a
// PATH with only Node and npm, so no compiler. Node 20 compiles SQLite: it runs the scripts, with the whole PATH, and uses a file that was
// packed under Node 20. The file includes the binding if a newer Node has packed it. It needs the npm registry.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadedModules } from './bundled-modules.js';
import { fetchRuntime } from './node-runtime.js';
import { temporaryDirectory } from './temporary-directory.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: 'string', multiple: true, default: ['22.14.0', '24', '26'] } },
});

/**
 * The limit of each figure. The binaries of better-sqlite3 for eight platforms take 17 MB. Node 20 also installs the tools that download or
 * compile the binding, and their dependencies.
 */
const limits = { packages: 5, megabytes: 30, seconds: 10, npxSeconds: 3 };

const home = temporaryDirectory();
let database;
try {
  const file = realpathSync(resolve(positionals[0] ?? packed()));
  const { checkManual, installedUses, startPostgres, useRepl } = await loadedModules(home, [
    'test/support/installed-program.ts',
    'test/support/postgres-server.ts',
  ]);
  database = await startPostgres([]);
  const address = `postgres://${database.user}@127.0.0.1:${database.port}/postgres`;
  for (const version of values.node) await checkUnder(version);

  async function checkUnder(version) {
    const place = join(home, version);
    const runtime = fetchRuntime(version, join(place, 'runtime'));
    const { node, command, env } = bareEnvironment(place, runtime);
    const figures = install(place, file, { node, env, command });
    const program = {
      command: [command.node, join(place, 'prefix/bin/parley')],
      env: { ...plainEnvironment(place, env) },
      place,
    };
    checkManual(join(place, 'prefix/share/man/man1/parley.1'));
    const uses = { ...installedUses.quick, ...installedUses.further };
    for (const use of [...Object.values(uses), useRepl]) await use(program);
    // The same over PostgreSQL, in a schema for this Node.
    const store = `${address}?schema=node_${version.replaceAll('.', '_')}`;
    const shared = { ...program, env: { ...program.env, PARLEY_STORE: store } };
    for (const use of Object.values(uses)) await use(shared);
    // npx would compile SQLite each time, so it is not timed.
    const npx = command.isCompiling ? null : timeNpx(place, file, { env, command });
    tell(node, figures, npx, 2 * Object.keys(uses).length + 1);
  }
} finally {
  database?.stop();
}

function packed() {
  return run([process.execPath, join(root, 'scripts/pack.js'), '--to', home], process.env).trim();
}

/** A PATH with only Node and npm. npm comes from the Node that runs this script. */
function bareEnvironment(place, { node, env, bin }) {
  const npm = realpathSync(run(['sh', '-c', 'command -v npm'], process.env).trim());
  const path = join(place, 'path');
  mkdirSync(path);
  symlinkSync(join(bin, 'node'), join(path, 'node'));
  const isCompiling = node.startsWith('20.');
  return {
    node,
    command: { node: join(bin, 'node'), npm, isCompiling },
    env: {
      ...env,
      PATH: isCompiling ? `${path}${delimiter}${env.PATH}` : path,
      npm_config_cache: join(place, 'cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    },
  };
}

function install(place, file, { env, command }) {
  const prefix = join(place, 'prefix');
  const words = [
    'install',
    '--global',
    '--prefix',
    prefix,
    ...(command.isCompiling ? [] : ['--ignore-scripts']),
  ];
  const start = performance.now();
  run([command.node, command.npm, ...words, file], env);
  const seconds = (performance.now() - start) / 1000;
  const listed = run(
    [command.node, command.npm, 'ls', '--global', '--all', '--parseable', '--prefix', prefix],
    env,
  );
  const packages = listed
    .trim()
    .split('\n')
    .filter((line) => line.includes('node_modules')).length;
  return { packages, megabytes: bytesBelow(prefix) / 1e6, seconds };
}

/** `again`: npm has the packages in its cache, and npx its directory of them. `fromCache`: npx creates this directory again. */
function timeNpx(place, file, { env, command }) {
  const words = ['exec', '--yes', `--package=${file}`, '--', 'parley', 'chat', '-n', '-m', 'echo', 'Hello'];
  // npx starts the program with a shell.
  const surroundings = { ...plainEnvironment(place, env), PATH: `${env.PATH}${delimiter}/bin` };
  const reply = () => {
    const start = performance.now();
    run([command.node, command.npm, ...words], surroundings, (out) => out === 'Hello\n');
    return (performance.now() - start) / 1000;
  };
  reply();
  const again = reply();
  rmSync(join(place, 'cache/_npx'), { recursive: true });
  return { again, fromCache: reply() };
}

function plainEnvironment(place, env) {
  return {
    ...env,
    HOME: place,
    LC_ALL: 'C.UTF-8',
    PARLEY_CONFIG_DIR: join(place, 'config'),
    PARLEY_DATA_DIR: join(place, 'data'),
  };
}

function tell(node, { packages, megabytes, seconds }, npx, uses) {
  const npxTimes =
    npx === null
      ? ''
      : `npx ${npx.again.toFixed(1)} s, ${npx.fromCache.toFixed(1)} s from npm's cache alone; `;
  process.stdout.write(
    `Node ${node}: ${packages} packages, ${megabytes.toFixed(1)} MB, ${seconds.toFixed(1)} s; ${npxTimes}${uses} uses\n`,
  );
  if (npx === null) return;
  const figures = { packages, megabytes, seconds, npxSeconds: npx.again };
  const beyond = Object.keys(limits).filter((name) => figures[name] > limits[name]);
  if (beyond.length === 0) return;
  process.stderr.write(
    `Node ${node}: over the limit of ${beyond.map((name) => `${limits[name]} ${name}`).join(', ')}\n`,
  );
  process.exitCode = 1;
}

function bytesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function run([file, ...words], env, isExpected = () => true) {
  const { status, stdout, stderr } = spawnSync(file, words, { env, encoding: 'utf8', cwd: dirname(home) });
  if (status !== 0 || !isExpected(stdout))
    throw new Error(`${file} ${words.join(' ')}\nexit ${status}\n${stdout}\n${stderr}`);
  return stdout;
}
