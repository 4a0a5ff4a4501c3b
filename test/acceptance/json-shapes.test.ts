// Compares docs/json.md with the real output of each command: each documented field is there with its type, and each field is documented. A new
// command needs a section there and a row in the table here.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differences, readShapes } from '../support/json-shapes.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

const shapes = readShapes();
const place = new PlaceInProcess();
let served: ServedPlace;
const made = { session: '', empty: '', key: '', keyId: '' };

beforeAll(async () => {
  const chat = await place.answer<{ session_id: string }>(['chat', '-n', '-m', 'echo', 'hello']);
  const key = await place.answer<{ key: string; key_id: string }>(['keys', 'create', '--project', 'default']);
  await place.output(['chat', '-n', '-m', 'echo', 'https://ada:tr0ub4dor@host.example/']);
  const empty = await place.answer<{ session_id: string }>(['sessions', 'create']);
  Object.assign(made, { session: chat.session_id, empty: empty.session_id, key: key.key, keyId: key.key_id });
  served = await servePlace(place, ['--json']);
  const other = await place.answer<{ key: string }>(['keys', 'create', '--project', 'other']);
  const project = ['login', '--key-stdin', '--profile', 'project', '--url', served.url];
  await place.output(project, { stdin: other.key });
  await place.output(['profiles', 'use', 'local']);
  const projects = join(place.path, 'claude', 'projects');
  mkdirSync(projects, { recursive: true });
  writeFileSync(join(projects, 'talk.jsonl'), '{}\n');
});
afterAll(async () => {
  await served.end('SIGTERM');
  place.remove();
});

interface Run {
  /** The heading in docs/json.md. */
  readonly section: string;
  readonly words: () => readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The status, if it is not 0. */
  readonly status?: number;
}

const login = () => ['login', '--key-stdin', '--profile', 'far', '--url', served.url];

/** The order matters: each uses the results of the ones before. */
const runs: readonly Run[] = [
  { section: 'parley chat', words: () => ['chat', '-n', '-m', 'echo', '-s', made.session, 'x', '--json'] },
  {
    section: 'parley chat --batch',
    words: () => ['chat', '--batch', '-m', 'echo', '--json'],
    stdin: 'a\n{"message":"b","id":"x"}\n{"message":1}\n',
    status: 3,
  },
  { section: 'parley chat --json-stream', words: () => ['chat', '-n', 'x', '--json-stream'] },
  {
    section: 'parley chat --json-stream',
    words: () => ['chat', '-n', '--profile', 'far', '-m', 'nope', 'x', '--json-stream'],
    status: 2,
  },
  { section: 'parley repl', words: () => ['repl', '--json'], status: 2 },
  { section: 'parley sessions create', words: () => ['sessions', 'create', '--title', 'x', '--json'] },
  { section: 'parley sessions get', words: () => ['sessions', 'get', made.session, made.empty, '--json'] },
  {
    section: 'parley sessions get',
    words: () => ['sessions', 'get', made.session, '--profile', 'far', '--json'],
  },
  { section: 'parley sessions list', words: () => ['sessions', 'list', '--limit', '2', '--json'] },
  { section: 'parley sessions list', words: () => ['sessions', 'list', '--profile', 'far', '--json'] },
  { section: 'parley sessions list --ids', words: () => ['sessions', 'list', '--ids', '--json'] },
  { section: 'parley sessions messages', words: () => ['sessions', 'messages', made.session, '--json'] },
  { section: 'parley sessions show', words: () => ['sessions', 'show', made.session, '--json'] },
  {
    section: 'parley sessions undo',
    words: () => ['sessions', 'undo', made.session, '--profile', 'local', '--json'],
  },
  {
    section: 'parley sessions redo',
    words: () => ['sessions', 'redo', made.session, '--profile', 'local', '--json'],
  },
  {
    section: 'parley sessions fork',
    words: () => ['sessions', 'fork', made.session, '--profile', 'local', '--json'],
  },
  {
    section: 'parley chat',
    words: () => ['chat', '-n', '-s', made.session, '--regenerate', '--profile', 'local', '--json'],
  },
  {
    section: 'parley sessions messages',
    words: () => ['sessions', 'messages', made.session, '--all', '--profile', 'local', '--json'],
  },
  { section: 'parley sessions rename', words: () => ['sessions', 'rename', made.session, 'y', '--json'] },
  { section: 'parley sessions delete', words: () => ['sessions', 'delete', made.empty, '--json'] },
  { section: 'parley sessions delete', words: () => ['sessions', 'delete', 'nope', '--json'], status: 5 },
  {
    section: 'parley sessions delete',
    words: () => ['sessions', 'delete', made.session, made.session, 'nope', '--yes', '--json'],
    status: 3,
  },
  {
    section: 'parley sessions restore',
    words: () => ['sessions', 'restore', made.session, made.empty, '--json'],
  },
  ...(['pin', 'unpin', 'archive', 'unarchive', 'tag'] as const).map((name) => ({
    section: `parley sessions ${name}`,
    words: () => {
      const tags = name === 'tag' ? ['+b', '+a'] : [];
      return ['sessions', name, made.session, made.empty, 'nope', ...tags, '--yes', '--json'];
    },
    status: 3,
  })),
  ...['archive', 'tag'].flatMap((name) => [
    {
      section: `parley sessions ${name}`,
      words: () => [
        'sessions',
        name,
        made.session,
        made.empty,
        ...(name === 'tag' ? ['+c'] : []),
        '--yes',
        '--json',
      ],
    },
    { section: 'parley sessions restore', words: () => ['sessions', 'restore', '--last', '--json'] },
  ]),
  { section: 'parley sessions batches', words: () => ['sessions', 'batches', '--json'] },
  {
    section: 'parley sessions purge',
    words: () => ['sessions', 'purge', '--profile', 'local', '--deleted-before', '0d', '--dry-run', '--json'],
  },
  ...[['--dry-run'], ['--yes']].map((how) => ({
    section: 'parley sessions purge',
    words: () => ['sessions', 'purge', '--profile', 'local', '--user', 'nobody', ...how, '--json'],
  })),
  { section: 'parley sessions search', words: () => ['sessions', 'search', 'hello', '--json'] },
  {
    section: 'parley sessions search --secrets',
    words: () => ['sessions', 'search', '--secrets', '--profile', 'local', '--json'],
  },
  { section: 'parley sessions export', words: () => ['sessions', 'export', made.session, '--json'] },
  {
    section: 'parley sessions export --output',
    words: () => ['sessions', 'export', made.session, '--format', 'json', '--output', 'x.json', '--json'],
  },
  {
    section: 'parley sessions export --output',
    words: () => ['sessions', 'export', made.session, 'nope', '--output', 'folder/', '--json'],
    status: 3,
  },
  { section: 'parley sessions import', words: () => ['sessions', 'import', 'x.json', '--json'] },
  {
    section: 'parley sessions import',
    words: () => ['sessions', 'import', '-', '--json'],
    stdin: '{"session":{}}',
    status: 2,
  },
  {
    section: 'parley sessions import --scan',
    words: () => ['sessions', 'import', '--scan', '--json'],
    env: { CLAUDE_CONFIG_DIR: 'claude' },
  },
  { section: 'parley sessions delete', words: () => ['sessions', 'delete', made.empty, '--json'] },
  {
    section: 'parley sessions purge',
    words: () => [
      'sessions',
      'purge',
      '--profile',
      'local',
      '--deleted-before',
      '0d',
      '--confirm',
      '1',
      '--json',
    ],
  },
  {
    section: 'parley sessions redact',
    words: () => [
      'sessions',
      'redact',
      made.session,
      'nope',
      '--secrets',
      '--profile',
      'local',
      '--yes',
      '--json',
    ],
    status: 3,
  },
  {
    section: 'parley sessions redact',
    words: () => ['sessions', 'redact', '--all', '--secrets', '--profile', 'local', '--yes', '--json'],
  },
  {
    section: 'parley sync',
    words: () => ['sync', 'project', '--profile', 'local', '--json'],
  },
  { section: 'parley models', words: () => ['models', '--json'] },
  { section: 'parley verify', words: () => ['verify', '--json'] },
  { section: 'parley verify', words: () => ['verify', '--profile', 'far', '--json'] },
  { section: 'parley profiles list', words: () => ['profiles', 'list', '--json'] },
  { section: 'parley profiles use', words: () => ['profiles', 'use', 'local', '--json'] },
  { section: 'parley logout', words: () => ['logout', '--profile', 'far', '--json'] },
  { section: 'parley profiles remove', words: () => ['profiles', 'remove', 'far', '--json'] },
  {
    section: 'parley modes add',
    words: () => ['modes', 'add', 'm', '--base-url', 'https://model.example/v1', '--model', 'x', '--json'],
  },
  { section: 'parley modes set', words: () => ['modes', 'set', 'm', '--temperature', '0.5', '--json'] },
  { section: 'parley modes show', words: () => ['modes', 'show', 'm', '--json'] },
  { section: 'parley modes test', words: () => ['modes', 'test', 'echo', '--json'] },
  { section: 'parley modes list', words: () => ['modes', 'list', '--json'] },
  { section: 'parley modes default', words: () => ['modes', 'default', 'm', '--json'] },
  { section: 'parley modes remove', words: () => ['modes', 'remove', 'm', '--json'] },
  {
    section: 'parley templates edit',
    words: () => ['templates', 'edit', 't', '--json'],
    stdin: '---\ntitle: T\n---\n{{who:all}} {{input}}',
  },
  { section: 'parley templates list', words: () => ['templates', 'list', '--json'] },
  { section: 'parley templates show', words: () => ['templates', 'show', 't', '--json'] },
  { section: 'parley templates remove', words: () => ['templates', 'remove', 't', '--json'] },
  { section: 'parley usage', words: () => ['usage', '--json'] },
  { section: 'parley keys create', words: () => ['keys', 'create', '--project', 'p', '--json'] },
  { section: 'parley keys revoke', words: () => ['keys', 'revoke', made.keyId, '--json'] },
  { section: 'parley keys list', words: () => ['keys', 'list', '--json'] },
  { section: 'parley audit list', words: () => ['audit', 'list', '--json'] },
  { section: 'parley audit verify', words: () => ['audit', 'verify', '--json'] },
  { section: 'parley audit export', words: () => ['audit', 'export', '--what', 'key_created', '--json'] },
  { section: 'parley retention set', words: () => ['retention', 'set', '--after', '90d', '--json'] },
  { section: 'parley retention show', words: () => ['retention', 'show', '--json'] },
  { section: 'parley retention run --dry-run', words: () => ['retention', 'run', '--dry-run', '--json'] },
  { section: 'parley retention run', words: () => ['retention', 'run', '--confirm', '0', '--json'] },
  { section: 'parley retention off', words: () => ['retention', 'off', '--json'] },
  { section: 'parley store migrate', words: () => ['store', 'migrate', '--json'] },
  { section: 'parley store backup', words: () => ['store', 'backup', 'whole.backup', '--json'] },
  { section: 'parley store verify', words: () => ['store', 'verify', 'whole.backup', '--json'] },
  {
    section: 'parley store restore',
    words: () => ['store', 'restore', 'whole.backup', '--json'],
    env: { PARLEY_DATA_DIR: 'restored' },
  },
  {
    section: 'parley store copy',
    words: () => ['store', 'copy', '--from', 'data', '--to', 'data-copied', '--json'],
  },
  { section: 'parley doctor', words: () => ['doctor', '--json'] },
  { section: 'parley doctor', words: () => ['doctor', '--json', '--profile', 'nope'], status: 2 },
  { section: 'parley completion', words: () => ['completion', 'zsh', '--json'] },
  { section: 'parley help', words: () => ['help', 'sessions', '--json'] },
  { section: 'A failure', words: () => ['sessions', 'get', 'nope', '--json'], status: 5 },
  { section: 'A failure', words: () => ['sessions', 'get', '..', '--json'], status: 2 },
  { section: 'A failure', words: () => ['frob', '--json'], status: 2 },
];

describe('docs/json.md', () => {
  test('has a section for every command, and each is run here', () => {
    const page = readFileSync(fileURLToPath(new URL('../../dist/parley.1', import.meta.url)), 'utf8');
    const commands = Array.from(page.matchAll(/^\.SS "([^"[<\\]*?) ?[[<"\\]/gm), ([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((name) => !shapes.has(name))).toEqual([]);
    const run = new Set([
      ...runs.map(({ section }) => section),
      'parley login',
      'parley serve',
      'parley setup',
    ]);
    expect([...shapes.keys()].filter((section) => !run.has(section))).toEqual([]);
  });

  test('lists what parley serve and login print', async () => {
    expect(differences(JSON.parse(served.written.out), shape('parley serve'))).toEqual([]);
    const out = await place.output([...login(), '--json'], { stdin: made.key });
    expect(differences(JSON.parse(out), shape('parley login'))).toEqual([]);
  });

  test.each(runs)(
    'lists what $section prints, and nothing else',
    async ({ section, words, stdin, env = {}, status = 0 }) => {
      const outcome = await place.parley(words(), { env, ...(stdin !== undefined && { stdin }) });
      expect(outcome.status, outcome.err).toBe(status);
      const lines = outcome.out.split('\n').slice(0, -1);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(differences(JSON.parse(line), shape(section))).toEqual([]);
    },
  );

  test('describes the result for a missing session among several', async () => {
    const { out } = await place.parley(['sessions', 'get', made.session, 'nope', '--json']);
    const { session_id, ...body } = JSON.parse(out.split('\n')[1] ?? '');
    expect(session_id).toBe('nope');
    expect(differences(body, shape('A failure'))).toEqual([]);
  });

  test('is compared strictly: an additional field, a missing one and one of another type are found', () => {
    const { data } = { data: [{ name: 'x', description: 1, engine: 'e', model: null, extra: true }] };
    expect(differences({ success: true, data }, shape('parley models'))).toEqual([
      'data[].description is not string: 1',
      'data[].extra is not listed',
      'data[].default is missing',
    ]);
  });
});

function shape(section: string) {
  const found = shapes.get(section);
  if (found === undefined) throw new Error(`docs/json.md has no section ${section}`);
  return found;
}
