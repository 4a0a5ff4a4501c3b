// Makes the file to publish: `npm run pack [-- --to DIRECTORY] [--repository URL]`, after a build. Its manifest names the one package that the
// build does not bundle. The manifest of the repository, which names all packages, is private and cannot be packed. If that package has
// binaries (from 13 on, for Node 22.14 and newer), the file includes it without its sources. Otherwise npm downloads or compiles it.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from './temporary-directory.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The package that is not bundled, because it contains a compiled binary. */
const leftOut = 'better-sqlite3';
const binding = JSON.parse(readFileSync(join(root, 'node_modules', leftOut, 'package.json'), 'utf8'));
const isCarried = existsSync(join(root, 'node_modules', leftOut, 'prebuilds'));

const { values: options } = parseArgs({
  options: { to: { type: 'string', default: root }, repository: { type: 'string' } },
});
const target = resolve(options.to);
if (!existsSync(join(root, 'dist/THIRD-PARTY-NOTICES')))
  throw new Error('There is no build. Run: npm run build');

const place = temporaryDirectory();
for (const name of ['bin', 'dist', 'README.md', 'CHANGELOG.md', 'LICENSE']) copy(name, name);
copy('dist/THIRD-PARTY-NOTICES', 'THIRD-PARTY-NOTICES');
rmSync(join(place, 'dist/THIRD-PARTY-NOTICES'));
const documents = readdirSync(join(root, 'docs')).filter(
  (name) => name.endsWith('.md') || ['deploy', 'metrics'].includes(name),
);
for (const name of documents) copy(`docs/${name}`, `docs/${name}`);
if (isCarried) carryBinding();
const manifest = publishedManifest(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
write('package.json', manifest);
mkdirSync(target, { recursive: true });
const [packed] = Object.values(JSON.parse(npm(['pack', '--json', '--pack-destination', target])));
process.stdout.write(`${join(target, packed.filename)}\n`);
process.stderr.write(
  `${packed.entryCount} files, ${mega(packed.size)} MB, ${mega(packed.unpackedSize)} MB unpacked\n`,
);

/** Its dependencies are needed only to compile its sources. */
function carryBinding() {
  const folder = `node_modules/${leftOut}`;
  for (const name of ['lib', 'prebuilds', 'LICENSE', 'README.md'])
    copy(`${folder}/${name}`, `${folder}/${name}`);
  const { dependencies, devDependencies, scripts, ...manifest } = binding;
  write(`${folder}/package.json`, manifest);
}

/** The manifest without the parts that only the repository needs: scripts, tools, and the packages whose code is in the build. */
function publishedManifest({ name, version, description, license, type, bin, man, engines, dependencies }) {
  return {
    name,
    version,
    description,
    license,
    ...(options.repository && { repository: { type: 'git', url: options.repository } }),
    type,
    bin,
    man,
    engines: isCarried ? { node: engines.node.split(' || ').at(-1) } : engines,
    dependencies: { [leftOut]: isCarried ? binding.version : dependencies[leftOut] },
    ...(isCarried && { bundleDependencies: [leftOut] }),
  };
}

function write(name, manifest) {
  writeFileSync(join(place, name), `${JSON.stringify(manifest, null, 2)}\n`);
}

function copy(from, to) {
  cpSync(join(root, from), join(place, to), { recursive: true });
}

function npm(words) {
  return execFileSync('npm', words, { cwd: place, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function mega(bytes) {
  return (bytes / 1e6).toFixed(1);
}
