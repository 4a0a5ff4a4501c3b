// Bundles modules of the program and of its tests for scripts, because they are TypeScript, which Node 20 cannot run.
import { mkdirSync, symlinkSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A module that finds files relative to its own path also finds them from the bundle. */
const placesOfSources = {
  name: 'places-of-sources',
  transform: {
    filter: { code: /import\.meta\.url/ },
    handler: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
  },
};

/**
 * Bundles `files`, relative to the root, into a folder of `home`, each under the last part of its path (`embedded.mjs`). Their packages stay
 * where npm installed them. The folder must exist as long as the modules run.
 */
export async function bundledModules(home, files) {
  const directory = join(home, 'bundle');
  mkdirSync(directory);
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(files.map((file) => [nameOf(file), file])),
    platform: 'node',
    plugins: [placesOfSources],
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !id.endsWith('.ts'),
  });
  await bundle.write({ dir: directory, format: 'esm', entryFileNames: '[name].mjs' });
  return directory;
}

/** The exports of all these modules in one object. */
export async function loadedModules(home, files) {
  const directory = await bundledModules(home, files);
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(join(directory, `${nameOf(file)}.mjs`)).href)),
  );
  return Object.assign({}, ...modules);
}

function nameOf(file) {
  return /([^/]+)\.ts$/.exec(file)[1];
}
