// The notices for all third-party code in the build: each package with its version and the text of its licence. The build fails if a package
// has no text, because its licence requires one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const licences = fileURLToPath(new URL('licences/', import.meta.url));

/** Code that some packages contain as WebAssembly. Their own texts do not name it; `licences` holds its text. */
const carried = {
  'jq-wasm': ['jq', 'oniguruma', 'emscripten', 'musl'],
  undici: ['llhttp'],
};

/** `modules` are the ids of the bundled modules: paths, and the bundler's own runtime, which every chunk contains. */
export function thirdPartyNotices(modules) {
  const folders = new Set([...modules].map(packageFolder).filter((folder) => folder !== null));
  const notices = [...folders].flatMap(noticesOf).sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const header = 'Parley contains code of the packages below. Each stands under its own licence.\n';
  return [header, ...notices.map(({ name, text }) => `${name}\n\n${text}\n`)].join(`\n${'='.repeat(80)}\n\n`);
}

function packageFolder(module) {
  if (module.includes('\0rolldown/')) return join(licences, '../../node_modules/rolldown');
  return /^\/?[^\0]*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module.replaceAll('\\', '/'))?.[0] ?? null;
}

function noticesOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const inside = (carried[name] ?? []).map((part) => ({
    name: `${part}, inside ${name} ${version}`,
    text: readFileSync(join(licences, `${part}.txt`), 'utf8').trim(),
  }));
  return [{ name: `${name} ${version} (${license})`, text: licenceText(folder) }, ...inside];
}

/** The licence files, otherwise the section of that name in the README. */
function licenceText(folder) {
  const files = readdirSync(folder).sort();
  const read = (file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
  const own = files.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).map(read);
  if (own.length > 0) return own.join('\n\n');
  const readme = files.find((file) => /^readme/i.test(file));
  const [, section] = /^#+ *licen[cs]e *\n([\s\S]*)/im.exec(readme === undefined ? '' : read(readme)) ?? [];
  if (!/permission is hereby granted|redistribution and use/i.test(section ?? '')) {
    throw new Error(`${folder} has no licence text, so the build must not contain it.`);
  }
  return section.trim();
}
