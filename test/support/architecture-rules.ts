// The rules of the architecture as a function from sources to violations. The tables match the layout in CONTRIBUTING.md.
import { basename, dirname, join } from 'node:path/posix';
import { readSource, type SourceFile } from './source-file.ts';

/** For each folder of src, the folders or single files that it may import. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  service: [],
  // Long work pauses in the same way everywhere, and deadlines use the same clock.
  http: ['system/monotonic-clock.ts', 'system/yield-to-event-loop.ts'],
  // The checks of a base URL and of its connection share the definition of this machine.
  config: ['service', 'system', 'http/loopback.ts'],
  system: ['service/errors.ts'],
  store: ['service', 'system'],
  wire: ['service', 'http'],
  engine: ['service', 'http', 'system/before-abort.ts', 'system/monotonic-clock.ts'],
  local: [
    'service',
    'store/page-budget.ts',
    'store/session-filters.ts',
    'store/session-store.ts',
    'store/store-rows.ts',
    'store/order-change.ts',
    'store/store-rules.ts',
    'store/search-characters.ts',
    'store/unspaced-scripts.ts',
    'engine/reply-engine.ts',
    'engine/engine-set.ts',
    'system/before-abort.ts',
    'system/yield-to-event-loop.ts',
  ],
  // A request is printed as a shell command, with its duration.
  remote: [
    'service',
    'wire',
    'http',
    'system/bounded-file.ts',
    'system/monotonic-clock.ts',
    'system/shell-quote.ts',
  ],
  server: [
    'service',
    'wire',
    'http',
    'system/html-escape.ts',
    'system/monotonic-clock.ts',
    'system/yield-to-event-loop.ts',
  ],
  cli: ['service', 'config', 'system'],
  compose: ['service', 'config', 'system', 'local', 'remote', 'store', 'engine', 'http'],
  main: ['service', 'config', 'system', 'cli', 'compose'],
};

/** Single files that may import more than their folder. */
const fileRights: Readonly<Record<string, readonly string[]>> = { 'cli/commands/serve.ts': ['server'] };

/** For each package, the folders or files that may import it. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  commander: ['cli'],
  undici: ['http'],
  'eventsource-parser': ['http'],
  'better-sqlite3': ['store/sqlite/better-sqlite3-driver.ts'],
  'node:sqlite': ['store/sqlite/node-sqlite-driver.ts'],
  pg: ['store/postgres'],
  '@noble/hashes': ['config', 'local'],
  conf: ['config'],
  yaml: ['config', 'cli/imports'],
  yauzl: ['cli/imports'],
  chalk: ['cli/terminal', 'cli/repl'],
  'string-width': ['cli/terminal', 'cli/repl'],
  'wrap-ansi': ['cli/terminal', 'cli/repl'],
  marked: ['cli/terminal/markdown', 'cli/transcripts'],
  'highlight.js': ['cli/terminal/markdown'],
  'jq-wasm': ['cli/terminal'],
  ajv: ['cli/schema'],
  'ajv-formats': ['cli/schema'],
  ora: ['cli/terminal'],
  '@inquirer/prompts': ['cli/terminal'],
  hono: ['server'],
  '@hono/node-server': ['server'],
  zod: ['server'],
  pino: ['server'],
};

/** Files that may create terminal text from a plain string, which is then not filtered. */
const terminalTextMakers: readonly string[] = [
  'src/cli/terminal/terminal-text.ts',
  'src/cli/terminal/output.ts',
  'src/cli/terminal/style.ts',
  'src/cli/terminal/markdown/markdown-writer.ts',
  'src/cli/repl/line-painter.ts',
];

/** The files that may use `process`: the entry points, and the clock. */
const processes: readonly string[] = ['main.ts', 'store/sqlite/store-worker.ts', 'system/monotonic-clock.ts'];

/** Files that may be long: tables. */
const tables: readonly string[] = ['src/engine/offline/eliza/colleague-script.ts'];

/** Files with options of other programs: curl's, V8's, and custom properties of CSS. */
const otherOptions: readonly string[] = [
  'remote/curl-command.ts',
  'http/connections.ts',
  'server/docs-page.ts',
];

/** `parley chat`, or an option such as `--mode`. */
const commandLineWords = /\bparley [a-z-]|(?<![\w-])--[a-z]/;

const fileName = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.long)?\.(ts|js)$/;
const folderName = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const emptyNames = ['index', 'util', 'utils', 'helper', 'helpers', 'shared', 'common'];

/** Files of the repository by their path from its root (`src/…`, `test/…`, `bin/…`, `scripts/…`). */
export function findViolations(files: Readonly<Record<string, string>>): readonly string[] {
  const sources = Object.entries(files)
    .filter(([path]) => path.startsWith('src/'))
    .map(([path, text]) => readSource(path.slice('src/'.length), text));
  return [
    ...Object.entries(files).flatMap(([path, text]) => shapeViolations(path, text)),
    ...sources.flatMap((source) => [...importViolations(source), ...habitViolations(source)]),
    ...findCircles(sources),
    ...sharedNames(
      sources.flatMap(({ path, exportedTypes }) => exportedTypes.map((name) => [name, path] as const)),
    )
      .filter(([, paths]) => !paths.every((path) => path.startsWith(stores)))
      .map(([name, paths]) => `${name}: is exported by ${paths.join(' and ')}`),
    ...sharedNames(
      sources
        .filter(({ path }) => !path.startsWith(commands))
        .map(({ path }) => [basename(path), path] as const),
    )
      .filter(([, paths]) => new Set(paths.map(roomOf)).size > 1)
      .map(([name, paths]) => `${name}: is the name of ${paths.join(' and ')}`),
  ];
}

/** The path of a command is the words that users type, so its file name may repeat another one. */
const commands = 'cli/commands/';

/** Both stores use the same name for the same thing. */
const stores = 'store/';

/** The names of more than one path, with these paths. */
function sharedNames(
  named: readonly (readonly [name: string, path: string])[],
): readonly (readonly [string, readonly string[]])[] {
  const paths = new Map<string, string[]>();
  for (const [name, path] of named) paths.set(name, [...(paths.get(name) ?? []), path]);
  return [...paths].filter(([, those]) => those.length > 1);
}

function shapeViolations(path: string, text: string): readonly string[] {
  const violations: string[] = [];
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  if (!fileName.test(file) || !folders.every((folder) => folderName.test(folder))) {
    violations.push(`${path}: a name is not in kebab-case`);
  }
  for (const name of [...folders, file.replace(/\..*$/, '')]) {
    if (emptyNames.includes(name)) violations.push(`${path}: "${name}" does not say what it holds`);
  }
  if (!/^(#!.*\n)?\/[/*]/.test(text)) violations.push(`${path}: does not open with a comment`);
  const lines = text.trimEnd().split('\n').length;
  if (path.startsWith('src/') && /\bnew TerminalText\b/.test(text) && !terminalTextMakers.includes(path))
    violations.push(`${path}: makes text for a terminal that is not filtered`);
  if (lines > 300 && path.startsWith('src/') && !tables.includes(path))
    violations.push(`${path}: has ${lines} lines`);
  return violations;
}

function importViolations({ path, imports }: SourceFile): readonly string[] {
  const room = roomOf(path);
  const allowed = rooms[room];
  if (allowed === undefined) return [`${path}: stands in no room`];
  return imports.flatMap((specifier) => {
    if (specifier === 'node:process' || specifier === 'node:console')
      return [`${path}: imports ${specifier}`];
    if (specifier.startsWith('node:') && !(specifier in packageHomes)) return [];
    if (!specifier.startsWith('.')) {
      const name = packageName(specifier);
      const homes = packageHomes[name] ?? [];
      return homes.some((home) => path === home || path.startsWith(`${home}/`))
        ? []
        : [`${path}: ${name} is not at home here`];
    }
    const target = resolveImport(path, specifier);
    if (target === '../package.json') return [];
    const rights = [room, ...allowed, ...(fileRights[path] ?? [])];
    return rights.includes(target) || rights.includes(roomOf(target))
      ? []
      : [`${path}: may not import ${target}`];
  });
}

function habitViolations(source: SourceFile): readonly string[] {
  const violations: string[] = [];
  if (!processes.includes(source.path)) {
    for (const name of new Set(source.globals)) violations.push(`${source.path}: touches ${name}`);
  }
  // Names of commands and options belong to the command line. Other folders return remedies, as a kind and facts.
  if (roomOf(source.path) !== 'cli' && !otherOptions.includes(source.path)) {
    for (const text of source.texts.filter((one) => commandLineWords.test(one)))
      violations.push(`${source.path}: speaks of the command line: ${text.trim()}`);
  }
  if (source.hasDefaultExport) violations.push(`${source.path}: has a default export`);
  if (source.hasMutableState) violations.push(`${source.path}: keeps mutable state in the module`);
  return violations;
}

function findCircles(sources: readonly SourceFile[]): readonly string[] {
  const imports = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => resolveImport(path, specifier)),
    ]),
  );
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      circles.push(`${[...trail.slice(trail.indexOf(path)), path].join(' → ')}: is a circle`);
    } else if (!finished.has(path)) {
      for (const target of imports.get(path) ?? []) visit(target, [...trail, path]);
      finished.add(path);
    }
  };
  for (const path of imports.keys()) visit(path, []);
  return circles;
}

/** The folder of a path: `cli` for `cli/program.ts`, `main` for `main.ts`. */
function roomOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : path.replace(/\.ts$/, '');
}

function resolveImport(path: string, specifier: string): string {
  return join(dirname(path), specifier);
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
