// Runs `npm test` under every supported Node: `npm run test:matrix`, or `node scripts/test-matrix.js 22` for one.
// Each gets a clean copy of the checkout, including uncommitted changes, and its runtime from the npm registry.
// Node 20 installs from the lock file; a newer one without it, so that npm chooses the better-sqlite3 for it. If a Node's own SQLite is used,
// the tests of the store run a second time with better-sqlite3.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCheckout } from './checkout-copy.js';
import { fetchRuntime } from './node-runtime.js';

const supported = ['20', '22', '24', '26'];
const chosen = process.argv.length > 2 ? process.argv.slice(2) : supported;
const unknown = chosen.filter((major) => !supported.includes(major));

if (process.platform !== 'linux' || process.arch !== 'x64') {
  fail(`The matrix runs on linux-x64 alone; this is ${process.platform}-${process.arch}.`);
} else if (unknown.length > 0) {
  fail(`No such Node in the matrix: ${unknown.join(', ')}. There are ${supported.join(', ')}.`);
} else {
  const rows = chosen.map(testUnder);
  const header = {
    node: 'node',
    sqlite: 'better-sqlite3',
    install: 'install',
    test: 'test',
    result: 'result',
  };
  for (const row of [header, ...rows]) {
    const cells = [
      row.node.padEnd(9),
      row.sqlite.padEnd(14),
      row.install.padStart(7),
      row.test.padStart(7),
      row.result,
    ];
    process.stdout.write(`${cells.join('  ')}\n`);
  }
  if (rows.some((row) => row.result !== 'passed')) process.exitCode = 1;
}

function testUnder(major) {
  const place = mkdtempSync(join(tmpdir(), `parley-node-${major}-`));
  try {
    const checkout = join(place, 'checkout');
    copyCheckout(checkout);
    const { node, env } = fetchRuntime(major, join(place, 'runtime'));
    const locked = major === '20';
    if (!locked) rmSync(join(checkout, 'package-lock.json'));

    const install = run(
      locked ? ['ci'] : ['install', '--no-package-lock'],
      checkout,
      env,
      `Node ${node}: installing`,
    );
    const sqlite = installedVersion(checkout, 'better-sqlite3');
    if (!install.passed) return { node, sqlite, install: install.time, test: '-', result: 'install failed' };
    const test = run(['test'], checkout, env, `Node ${node}: testing with better-sqlite3 ${sqlite}`);
    const again = ['exec', '--', 'vitest', 'run', 'test/store', 'test/durability'];
    const forced = { ...env, PARLEY_SQLITE_DRIVER: 'better-sqlite3' };
    const others =
      Number(major) < 24 ||
      !test.passed ||
      run(again, checkout, forced, `Node ${node}: the other library`).passed;
    return {
      node,
      sqlite,
      install: install.time,
      test: test.time,
      result: test.passed && others ? 'passed' : 'failed',
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function run(words, cwd, env, title) {
  process.stdout.write(`${title}\n`);
  const start = Date.now();
  const { status, stdout, stderr } = spawnSync('npm', words, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) process.stdout.write(`${stdout.slice(-20_000)}\n${stderr.slice(-10_000)}\n`);
  return { passed: status === 0, time: `${Math.round((Date.now() - start) / 1000)} s` };
}

function installedVersion(checkout, name) {
  const file = join(checkout, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : '-';
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 2;
}
