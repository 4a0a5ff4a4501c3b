// Invalid input: each command names the fault and the remedy, in words and as JSON, with its status, and stores nothing.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyRecord } from '../../src/service/administration.ts';
import type { Page, Session } from '../../src/service/session.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { expectFailure, expectJsonFailure } from '../support/failures.ts';
import { Place, type RunOptions, type Variables } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { ProgramInProcess } from '../support/program-in-process.ts';
import { lookInto } from '../support/raw-database.ts';
import { lockStore } from '../support/store-lock.ts';
import { sinceBoot } from '../support/store-options.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

const hello = ['chat', '-n', 'hello'];

/** A description, the arguments, and a part of the error. */
type Row = readonly [string, readonly string[], RegExp, RunOptions?];

const usage: readonly Row[] = [
  ['an unknown command', ['sesions'], /'sesions'.*\nDid you mean sessions\?/],
  ['an unknown command of a group', ['sessions', 'lst'], /'lst'.*\nDid you mean list\?/],
  ['an unknown option', ['chat', '--sesion', 'x'], /'--sesion'.*\nDid you mean --session\?/],
  ['an unknown option without a like', ['--xyzzy'], /'--xyzzy'.*\nSee: parley --help\n$/],
  ['a command in quotes', ['sessions list'], /\nDid you mean: parley sessions list\nSee: parley --help\n$/],
  [
    'its words far apart',
    [' sessions \t list'],
    /\nDid you mean: parley sessions list\nSee: parley --help\n$/,
  ],
  ['a word alone', ["It's"], /\nDid you mean: parley chat 'It'\\''s'\nSee: parley --help\n$/],
  ['a long word alone', ['word'.repeat(20)], /\nDid you mean: parley chat "…"\nSee: /],
  ['a deletion by its name elsewhere', ['sessions', 'remove', 'x'], /\nDid you mean delete\? See: /],
  ['a key taken back by another name', ['keys', 'rm', 'x'], /\nDid you mean revoke\? See: /],
  ['a mode changed by another name', ['modes', 'edit', 'x'], /\nDid you mean set\? See: /],
  ['a template made by another name', ['templates', 'new', 'x'], /\nDid you mean edit\? See: /],
  [
    'a login with a URL as a word',
    ['login', 'https://h/'],
    /\nDid you mean: parley login --url https:\/\/h\/\nSee: parley login --help\n$/,
  ],
  [
    'a command of modes after models',
    ['models', 'add', 'gpt'],
    /\nDid you mean: parley modes add gpt\nSee: parley models --help\n$/,
  ],
  ['a list by its name elsewhere', ['ls'], /\nDid you mean: parley sessions list\nSee: /],
  ['an export without its group', ['export', 'a b', '-o', '-'], /: parley sessions export 'a b' -o -\n/],
  ['the last session by its name elsewhere', ['resume'], /\nDid you mean: parley repl -c\nSee: /],
  ['a session by its name elsewhere', ['resume', 'ID'], /\nDid you mean: parley repl -s ID\nSee: /],
  ['a default mode by its name elsewhere', ['modes', 'use', 'x'], /\nDid you mean default\? See: /],
  ['a mode with a value', ['chat', '--model=echo', 'Hi'], /\nDid you mean --mode\? See: /],
  ['a parameter by one letter', ['chat', '-o', 'top_p', '1', 'Hi'], /\nDid you mean --param\? See: /],
  ['an undo without its group', ['undo', 'x'], /\nDid you mean: parley sessions undo x\nSee: /],
  ['a restore, which looks like store', ['restore', 'x'], /\nDid you mean: parley sessions restore x\nSee: /],
  ['an alias without its group', ['show', 'x'], /\nDid you mean: parley sessions show x\nSee: /],
  ['a backup without its group', ['backup', 'x'], /\nDid you mean: parley store backup x\nSee: /],
  ['the version as a command', ['version'], /\nDid you mean: parley --version\nSee: /],
  ['the version by one letter', ['-v'], /\nDid you mean: parley --version\nSee: /],
  ['a greeting', ['hello'], /\nDid you mean: parley chat hello\nSee: /],
  ['a mistyped chat', ['chta', 'hi'], /\nDid you mean chat\? See: /],
  ['-c alone', ['-c'], /\nDid you mean: parley chat -c '…'\nSee: /],
  ['a mode alone', ['-m', 'echo'], /\nDid you mean: parley chat -m echo '…'\nSee: /],
  ['a session alone', ['-s', 'ID'], /\nDid you mean: parley chat -s ID '…'\nSee: /],
  ['a mode and a message', ['-m', 'echo', 'Hi'], /\nDid you mean: parley chat -m echo Hi\nSee: /],
  ['an option of chat alone', ['-n'], /\nDid you mean: parley chat -n '…'\nSee: /],
  ['a message to the REPL', ['repl', 'Hi'], /\nDid you mean: parley chat Hi\nSee: parley repl --help\n$/],
  [
    'a login that names no server',
    ['login'],
    /\nPipe the key in with --key-stdin, and name its server with --url URL\./,
  ],
  ['help for an unknown command', ['help', 'sesions'], /sesions/],
  [
    'a group without its command',
    ['keys'],
    /^parley: A command is missing\. \(USAGE\)\nCommands:\n {2}create .*\n {2}list .*\n {2}revoke .*\nSee: parley keys --help\n$/,
  ],
  [
    'a session that is a dash',
    ['sessions', 'messages', '-'],
    /^parley: - names no session.*\nName the session by its id/,
  ],
  [
    'a dash as the file of a run',
    ['chat', '--batch', '--resume', '-'],
    /^parley: --resume needs the file that a run wrote/,
  ],
  [
    'a missing argument',
    ['sessions', 'messages'],
    /argument 'id'.*\nUsage: parley sessions messages \[options\] <id>\nSee: /,
  ],
  [
    'a missing second argument',
    ['sessions', 'rename', 'ses_x'],
    /argument 'title'.*\nUsage: .* <id> <title\.\.\.>\n/,
  ],
  [
    'an argument too many',
    ['verify', 'x'],
    /: Unexpected argument 'x'\..*\nUsage: parley verify \[options\]\nSee: /,
  ],
  [
    'a shell without a completion',
    ['completion', 'tcsh'],
    /: Argument 'tcsh' is invalid for <shell>\. .* bash, zsh, fish\./,
  ],
  [
    'a project as a word',
    ['keys', 'create', 'ci', '--name', 'a b'],
    /: parley keys create --project ci --name 'a b'\n/,
  ],
  ['a time as a word', ['retention', 'set', '30d'], /\nDid you mean: parley retention set --after 30d\n/],
  [
    'a number of days as a word',
    ['retention', 'set', '30'],
    /\nDid you mean: parley retention set --after 30d\n/,
  ],
  [
    'a time that is none',
    ['retention', 'set', 'soon'],
    /\nUsage: parley retention set --after <time> \[options\]\n/,
  ],
  ['a port as a word', ['serve', '8080'], /\nDid you mean: parley serve --port 8080\n/],
  [
    'a title as a word',
    ['sessions', 'create', 'Nightly'],
    /\nDid you mean: parley sessions create --title Nightly\n/,
  ],
  ['words to list', ['sessions', 'list', 'tide'], /\nDid you mean: parley sessions search tide\n/],
  [
    'the beginning of an option',
    ['sessions', 'list', '--older', '30d'],
    /\nDid you mean --older-than\? See: /,
  ],
  [
    'the beginning of several options',
    ['chat', '--no-s'],
    /\nDid you mean one of --no-stream, --no-stdin\? See: /,
  ],
  [
    'an editor without a terminal',
    ['templates', 'edit', 'x'],
    /no terminal to open an editor in.*\n.*: parley templates edit NAME < FILE\./,
    { env: { VISUAL: '', EDITOR: '' } },
  ],
  ['a list of models as an option', ['repl', '--list-models'], /\nDid you mean: parley models\n/],
  ['a prompt without a command', ['repl', '-p', 'Hi'], /\nDid you mean: parley chat Hi\n/],
  ['a session by the option of another', ['repl', '--resume', 'x'], /\nDid you mean --session\? See: /],
  ['quiet by one letter', ['models', '-q'], /\nDid you mean --quiet\? See: /],
  ['a format that is an option', ['chat', '--format', 'json', 'Hi'], /\nDid you mean --json\? See: /],
  ['a format with a value', ['sessions', 'list', '--output-format=json'], /\nDid you mean --json\? See: /],
  ['a limit by one letter', ['sessions', 'list', '-n', '5'], /\nDid you mean --limit\? See: /],
  ['a port by one letter', ['serve', '-p', '8080'], /\nDid you mean --port\? See: /],
  ['a prompt as an option', ['chat', '-p', 'Hi there'], /\nDid you mean: parley chat 'Hi there'\n/],
  [
    'a confirmation by another name',
    ['sessions', 'delete', 'ses_x', '--force'],
    /\nDid you mean --yes\? See: /,
  ],
  [
    'a profile made by another name',
    ['profiles', 'add', 'x'],
    /\nDid you mean: parley login --profile x --url URL\n/,
  ],
  ['a question by its name elsewhere', ['ask', 'Why?'], /\nDid you mean: parley chat 'Why\?'\n/],
  [
    'the server of a model by the option of another',
    ['modes', 'add', 'x', '--url', 'http://h', '--model', 'm'],
    /--base-url/,
  ],
  [
    'a built-in mode to remove',
    ['modes', 'remove', 'eliza'],
    /built in and cannot be removed.*\nOnly modes that were added/,
  ],
  ['an option without its value', ['chat', 'hello', '--mode'], /argument missing/],
  ['a key without a project', ['keys', 'create'], /'--project <name>'/],
  ['an empty message', ['chat', '-n', ''], /no message/],
  ['no message at all', ['chat'], /no message/],
  ['stdin asked for and left alone', ['chat', '-n', '-'], /-n/],
  ['a file that is not there', [...hello, '-f', 'gone.txt'], /gone\.txt.*no such file/],
  ['a directory as a file', [...hello, '-f', '.'], /is a directory/],
  ['a mode without a name', [...hello, '-m', ''], /--mode/],
  ['-s and -c', [...hello, '-c', '-s', 'ses_x'], /-s and -c/],
  ['-s and --title', [...hello, '-s', 'ses_x', '--title', 'x'], /-s and --title/],
  ['-c and --title', [...hello, '-c', '--title', 'x'], /-c and --title/],
  ['-c with no session yet', [...hello, '-c'], /no session to continue/],
  ['a page of none', ['sessions', 'list', '--limit', '0'], /1 to 200/],
  ['a page too large', ['sessions', 'list', '--limit', '201'], /1 to 200/],
  ['a guard of none', ['sessions', 'delete', 'ses_x', '--max', '0'], /of at least 1/],
  ['no time to wait', [...hello, '--timeout', '0'], /seconds/],
  ['no ids', ['sessions', 'delete'], /No session id.*\n.*select sessions: parley sessions delete --help/],
  ['no ids on stdin', ['sessions', 'delete'], /No session id/, { stdin: '\n# none\n' }],
  ['ids both ways', ['sessions', 'delete', 'ses_x', '-'], /both as arguments/],
  ['several deletions that nobody confirms', ['sessions', 'delete', 'ses_x', 'ses_y'], /--yes/],
  ['more ids than the guard', ['sessions', 'delete', 'a', 'b', '--yes', '--max', '1'], /--max/],
  [
    '--profile with --url',
    ['--profile', 'local', '--url', 'https://h', ...hello],
    /--profile or --url, but not both/,
  ],
];

// A text with blanks may be a title, so it is no wrong id.
const ids: readonly Row[] = ['', ' ', '.', '..', 'a\nb', 'a\u0007', 'x'.repeat(256)].flatMap((id): Row[] => [
  [`the id ${JSON.stringify(id).slice(0, 12)} in get`, ['sessions', 'get', 'ses_x', id], /not a session id/],
  [`the id ${JSON.stringify(id).slice(0, 12)} in chat`, [...hello, '-s', id], /not a session id/],
]);

const idCommands: readonly Row[] = [
  ['an empty id to messages', ['sessions', 'messages', ''], /variable unset/],
  ['an empty id to rename', ['sessions', 'rename', '', 'x'], /variable unset/],
  ['an empty id to delete', ['sessions', 'delete', '', '--yes'], /variable unset/],
  ['an empty id to restore', ['sessions', 'restore', ''], /variable unset/],
];

const values: readonly Row[] = [
  ['a message of white space', ['chat', '-n', ' \t\n '], /whitespace/],
  ['white space with a title', ['chat', '-n', ' ', '--title', 'x'], /whitespace/],
  ['a title over 200', [...hello, '--title', 'é'.repeat(201)], /201 characters; the limit is 200/],
  ['a created title over 200', ['sessions', 'create', '--title', 'x'.repeat(201)], /the limit is 200/],
  ['a title with a line break', ['sessions', 'create', '--title', 'a\nb'], /control character/],
  ['an empty title', ['sessions', 'create', '--title', ''], /title is empty/],
  ['a made-up cursor', ['sessions', 'list', '--cursor', 'garbage'], /cursor/],
  ['a project without a name', ['keys', 'create', '--project', ''], /project is empty/],
];

const http = { PARLEY_API_KEY: 'pk_x' };
const configuration: readonly Row[] = [
  ['an unknown profile', ['--profile', 'nope', ...hello], /"nope".*\nProfiles: local/],
  ['an unknown profile to use', ['profiles', 'use', 'nope'], /"nope".*\nProfiles: local/],
  ['an unknown profile by variable', hello, /PARLEY_PROFILE/, { env: { PARLEY_PROFILE: 'nope' } }],
  ['a URL that is none', ['--url', 'nope', ...hello], /is not a URL/, { env: http }],
  ['a URL of another scheme', ['--url', 'ftp://h', ...hello], /https:\/\//, { env: http }],
  ['a URL with a password', ['--url', 'https://u:p@h', ...hello], /password/, { env: http }],
  [
    'plain http: to another host',
    ['--url', 'http://example.com', ...hello],
    /--insecure-http/,
    { env: http },
  ],
  ['a key with a line end', hello, /PARLEY_API_KEY/, { env: { PARLEY_API_KEY: 'pk_x\n' } }],
];

const modes: readonly Row[] = [
  [
    'an unknown mode',
    [...hello, '-m', 'nope'],
    /"nope".*\nModes: eliza, echo\.\nAdd a mode: parley setup, or parley modes add /,
  ],
  [
    'an unknown mode by variable',
    hello,
    /Modes: eliza, echo\.\nThe mode is named by PARLEY_MODE\.\nAdd a mode/,
    { env: { PARLEY_MODE: 'x' } },
  ],
];

const coded = (code: string, rows: readonly Row[]) =>
  rows.map(([name, args, problem, options = {}]) => [name, code, args, problem, options] as const);

const table = [
  ...coded('USAGE', [...usage, ...ids, ...idCommands]),
  ...coded('INVALID_REQUEST', values),
  ...coded('CONFIG', configuration),
  ...coded('UNKNOWN_MODE', modes),
];

test.each(table)('%s is refused with 2 and %s', async (_name, code, args, problem, options) => {
  const [inWords, asJson] = await Promise.all([
    place.parley(args, options),
    place.parley(['--json', ...args], options),
  ]);
  expect(inWords.err).toMatch(problem);
  expectFailure(inWords, { status: 2, code });
  expectJsonFailure(asJson, { status: 2, code });
});

const remote: Variables = { PARLEY_API_KEY: 'pk_x' };

test.each([
  ['USAGE', ['sessions', 'lst']],
  ['INVALID_REQUEST', ['chat', '-n', ' ']],
  ['CONFIG', ['--profile', 'nope', ...hello]],
  ['UNKNOWN_MODE', [...hello, '-m', 'nope']],
])('the program itself refuses with 2 and %s', async (code, args) => {
  const [inWords, asJson] = await Promise.all([place.binary(args), place.binary(['--json', ...args])]);
  expectFailure(inWords, { status: 2, code });
  expectJsonFailure(asJson, { status: 2, code });
});

test('administration of a server fails with 1', async () => {
  const [args, env] = [['--url', 'http://localhost:1', 'keys', 'list'], remote];
  expectFailure(await place.binary(args, { env }), { status: 1, code: 'UNSUPPORTED' });
  expectJsonFailure(await place.parley([...args, '--json'], { env }), { status: 1, code: 'UNSUPPORTED' });
});

test.each([
  ['key', ['keys', 'revoke', 'key_x'], 'INVALID_REQUEST'],
  ['retention run', ['sessions', 'restore', '--batch', 'ret_x'], 'INVALID_REQUEST'],
  ['batch', ['sessions', 'restore', '--batch', 'x'], 'USAGE'],
  ['mode', ['modes', 'show', 'x'], 'UNKNOWN_MODE'],
  ['template', ['templates', 'show', 'x'], 'USAGE'],
  ['profile', ['profiles', 'use', 'x'], 'CONFIG'],
  ['project', ['retention', 'show', '--project', 'x'], 'USAGE'],
])('an unknown %s is wrong input: 2', async (_name, args, code) => {
  expectFailure(await place.binary(args), { status: 2, code });
  expectJsonFailure(await place.parley([...args, '--json']), { status: 2, code });
});

test('a session in which another chat runs is busy with status 6, and the message is not stored', async () => {
  const own = await temporaryDirectory();
  const home = await openEmbedded(join(own.path, 'data'), { limits: { turnWaitMs: 300 } });
  try {
    const apiKey = await newKey(home, 'busy');
    const program = new ProgramInProcess({ directory: own.path, backend: home, apiKey });
    const session = (await program.run(['sessions', 'create'], [])).out.trim();
    lookInto(join(own.path, 'data', 'parley.db'), (database) =>
      database
        .prepare('UPDATE sessions SET turn_owner = ?, turn_until = ?, turn_position = 0 WHERE session_id = ?')
        .run('another machine', sinceBoot() + 60_000, session),
    );
    const refused = await program.run([...hello, '-m', 'echo', '-s', session], []);
    expect(refused).toMatchObject({ status: 6, out: '', err: expect.stringContaining('(SESSION_BUSY)') });
    const messages = await program.run(['sessions', 'messages', session, '--format', 'json'], []);
    expect(messages).toMatchObject({ status: 0, out: '' });
  } finally {
    await home.close();
    await own.remove();
  }
});

// These wait for locks, addresses and repeated requests, so they run at the same time.
test.concurrent('a store that another process keeps locked is busy after 5 s with any --timeout, with status 7, and reading works', async () => {
  const own = new Place();
  try {
    await own.output(['sessions', 'create']);
    const lock = await lockStore(own.storeFile);
    const patient = own.parley(['--timeout', '60', 'sessions', 'create']);
    const refused = await own.parley([...hello, '-m', 'echo']);
    expectFailure(refused, { status: 7, code: 'STORE_BUSY' });
    expectFailure(await patient, { status: 7, code: 'STORE_BUSY' });
    expect((await own.parley(['sessions', 'list'])).status).toBe(0);
    await lock.release();
    expect((await own.parley([...hello, '-m', 'echo'])).status).toBe(0);
  } finally {
    own.remove();
  }
}, 60_000);

test.concurrent('--timeout shortens the wait for a locked store', async () => {
  const own = new Place();
  try {
    await own.output([...hello, '-m', 'echo']);
    // Without the option, each would wait for these three seconds, and then succeed.
    const { ended } = await lockStore(own.storeFile, 3000);
    const calls = [
      ['sessions', 'create'],
      [...hello, '-m', 'echo'],
    ];
    const refused = await Promise.all(calls.map((words) => own.parley(['--timeout', '0.2', ...words])));
    for (const outcome of refused) expectFailure(outcome, { status: 7, code: 'STORE_BUSY' });
    // A search writes nothing, although the message is in no index yet.
    expect((await own.parley(['--timeout', '0.2', 'sessions', 'search', 'hello'])).status).toBe(0);
    expect((await own.parley(['--timeout', '60', 'sessions', 'create'])).status).toBe(0);
    await ended;
  } finally {
    own.remove();
  }
}, 60_000);

test.concurrent.each([
  ['no server is there', ['--url', 'http://localhost:1', 'verify'], remote],
  ['the host has no address', ['--url', 'https://parley.invalid', ...hello], remote],
  [
    'the host of an allowed plain http: has none',
    ['--insecure-http', '--url', 'http://parley.invalid', 'models'],
    remote,
  ],
])('where %s, the command fails with 6', async (_name, args, env) => {
  expectFailure(await place.parley(args, { env }), { status: 6, code: 'NETWORK' });
  expectJsonFailure(await place.parley([...args, '--json'], { env }), { status: 6, code: 'NETWORK' });
});

const nowhere = ['--url', 'http://localhost:1'];
const someId = 'ses_01hwt0d7g00000000000000000';

test.concurrent.each(
  [
    ['models'],
    ['chat', '-n', 'hi'],
    ['sessions', 'create'],
    ['sessions', 'get', someId],
    ['sessions', 'list'],
    ['sessions', 'search', 'word'],
    ['sessions', 'messages', someId],
    ['sessions', 'rename', someId, 'title'],
    ['sessions', 'delete', someId],
    ['sessions', 'restore', someId],
    ['sessions', 'export', someId],
  ].map((words) => [words.join(' '), words] as const),
)('%s fails with 6 where no server is', async (_name, args) => {
  expectFailure(await place.parley([...nowhere, ...args], { env: remote }), { status: 6, code: 'NETWORK' });
});

test('an error contains no raw control characters', async () => {
  const { err } = await place.parley(['sessions', 'get', 'a\u001b[31m b']);
  expect(err).toContain('\\x1b[31m');
  const command = await place.parley(['x\u001b]0;y\u0007']);
  expect(command.err).toContain('\\x1b]0;y\\x07');
  expect(err + command.err).not.toContain('\u001b');
});

test('a stack trace is shown only with --debug', async () => {
  expect((await place.binary([...hello, '-m', 'nope', '--debug'])).err).toMatch(/^\s+at /m);
});

test('none of these commands has stored anything', async () => {
  expect((await place.answer<Page<Session>>(['sessions', 'list'])).items).toEqual([]);
  expect(
    (await place.answer<readonly KeyRecord[]>(['keys', 'list'])).map(({ revoked_at }) => revoked_at),
  ).toEqual([null]);
});

test.each([
  ['the value of an unknown option', ['login', '--key=sk-of-another-vendor']],
  [
    'the value of an unknown option before the command',
    ['--api-key=sk-of-another-vendor', 'chat', '-n', 'hi'],
  ],
  ['an argument of login', ['login', '--url', 'http://127.0.0.1:9', 'sk-of-another-vendor']],
  ['an argument of logout', ['logout', 'sk-of-another-vendor']],
])('a key that is typed as %s is not repeated', async (_what, words) => {
  for (const options of [[], ['--json'], ['--debug']]) {
    const { status, out, err } = await place.parley([...words, ...options]);
    expect(status).toBe(2);
    expect(out + err).not.toContain('another-vendor');
  }
});

test('a key that is to be revoked is not repeated, and the error says what is expected', async () => {
  const key = (await place.output(['keys', 'create', '--project', 'default'])).trim();
  const { status, err } = await place.parley(['keys', 'revoke', key, '--debug']);
  expect(status).toBe(2);
  expect(err).toContain('That is a key, not the id of a key.');
  expect(err).not.toContain(key);
});
