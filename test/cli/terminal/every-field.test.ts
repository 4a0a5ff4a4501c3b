// Every field of every response of a server, in every command and slash command: none controls the terminal. The responses are those of the real
// service, so each new field is tested.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { AttackedTerminal } from './attacked-terminal.ts';
import { attacks, isHarmless } from './attacks.ts';
import { type Field, HostileAnswers, type Lie } from './hostile-answers.ts';

const directory = temporaryDirectory(afterAll);
let server: HostileAnswers;
let terminal: AttackedTerminal;
let id = '';
let other = '';
beforeAll(async () => {
  server = await HostileAnswers.open();
  terminal = new AttackedTerminal(directory, server.url);
  const { fixture } = server;
  const chat = { mode: 'echo', message: 'hello there', title: 'A title' };
  for (const message of ['hello one', 'hello two']) {
    const answer = await fixture.ask('POST', '/v1/chat', { body: { mode: chat.mode, message } });
    [other, id] = [id, ((await answer.json()) as { data: { session_id: string } }).data.session_id];
  }
});
afterAll(() => server.close());

/** The lies that one response can contain together: a response with a value of a wrong type is read no further. */
const together = ['parley-extensions', 'location', 'retry-after', 'www-authenticate'];
/** The long form also tries each of them alone. */
const alone = together.map((header) => [header]).slice(0, runs(0, together.length));
const hostileHeaders = [['content-type'], together, ...alone];

const isShort = runs(1, 2) === 1;
/** The short form tries every other one: the commands take turns. */
const shareOf = <T>(all: readonly T[], turn: number) =>
  isShort ? all.filter((_one, index) => index % 2 === turn % 2) : all;
const every = Object.values(attacks);
/** All attacks in one text, with another first one for each field, because the beginning of a cut text is shown. */
const allFrom = (at: number) =>
  [...every.slice(at % every.length), ...every.slice(0, at % every.length)].join('');
/** Values of a fixed form, which would be refused without it, are attacked by short texts that look like one word. */
const short = ['\x1b]52;c;cm0gLXJmIH4=\x07', 'x\u202ey\u009d52;c;AAAA\u009cz'];
const hasForm = /(_id|_at|cursor|name)$/;

/**
 * The long form tries both texts, except for the later items of a list, where code that reads the first item reads them too. The short form
 * tries one text each, and none for the later items.
 */
function textsFor({ path }: Field, index: number): readonly string[] {
  const isLater = path.some((name) => Number(name) > 0);
  if (isLater && isShort) return [];
  if (!hasForm.test(path.at(-1) ?? '')) return [allFrom(index)];
  return isLater || isShort ? short.slice(index % 2).slice(0, 1) : short;
}

/** Parley's own sequences, and those of the list to choose from: moves, and clearing. */
const own = /\x1b\[(?:\?(?:25|2026)[lh]|\d*[ABCDGJK])|\r|\x07/g;

function judged(what: string, written: string): readonly string[] {
  const rest = written.replace(own, '');
  return isHarmless(rest) ? [] : [`${what}: ${JSON.stringify(rest).slice(0, 300)}`];
}

async function breachesOf(
  run: () => Promise<void>,
  turn: number,
): Promise<{ readonly lies: number; readonly breaches: readonly string[] }> {
  const breaches: string[] = [];
  let lies = 0;
  const judge = async (what: string, lie: Lie) => {
    lies += 1;
    await server.lying(lie, run);
    breaches.push(...judged(what, terminal.taken()));
  };
  const fields = await server.fieldsOf(run);
  breaches.push(...judged('the truth', terminal.taken()));
  for (const [index, field] of fields.entries()) {
    const what = `${field.route} ${field.path.join('.')}`;
    for (const text of textsFor(field, index)) await judge(what, { field, text });
  }
  // Responses that request a wait cause a wait.
  for (const status of shareOf([400, 401, 404, 422], turn))
    await judge(`a failure ${status}`, { status, text: allFrom(status) });
  // A header consists of bytes, among which C1 characters are allowed.
  for (const headers of hostileHeaders) {
    const text = 'a\u009d52;c;AAAA\u009cb';
    for (const status of shareOf([302, 500], turn))
      await judge(`${headers} ${status}`, { headers, status, text });
    await judge(`${headers}`, { headers, text });
  }
  return { lies, breaches };
}

const commands: readonly (readonly [string, () => readonly string[]])[] = [
  ['verify', () => ['verify']],
  ['verify with its requests', () => ['verify', '--debug']],
  ['models', () => ['models']],
  ['chat', () => ['chat', '-n', '-m', 'echo', '--usage', '--reasoning', 'hi']],
  ['chat in one piece', () => ['chat', '-n', '-m', 'echo', '--no-stream', 'hi']],
  ['chat in JSON', () => ['chat', '-n', '-m', 'echo', '--json', 'hi']],
  ['chat that goes on', () => ['chat', '-n', '-s', id, 'hi']],
  ['doctor', () => ['doctor']],
  ['sessions create', () => ['sessions', 'create', '--title', 'x']],
  ['sessions get', () => ['sessions', 'get', id, other]],
  ['sessions list', () => ['sessions', 'list', '--limit', '1']],
  ['sessions list, ids alone', () => ['sessions', 'list', '--ids']],
  ['sessions search', () => ['sessions', 'search', 'hello', '--limit', '1']],
  ['sessions messages', () => ['sessions', 'messages', id]],
  ['sessions rename', () => ['sessions', 'rename', id, 'A title']],
  ['sessions export', () => ['sessions', 'export', id]],
  ['sessions delete', () => ['sessions', 'delete', id]],
  ['sessions restore', () => ['sessions', 'restore', id]],
  ['sessions delete, several', () => ['sessions', 'delete', id, other, '--yes']],
  ['sessions restore, several', () => ['sessions', 'restore', id, other]],
  ['sessions delete, looked up', () => ['sessions', 'delete', '--all', '--dry-run']],
  ['completion', () => ['__complete', '--', 'chat', '-s', '']],
];

describe('no field of a response can control a terminal', () => {
  test.each(commands.map((command, turn) => [...command, turn] as const))(
    '%s',
    async (_name, words, turn) => {
      const { lies, breaches } = await breachesOf(() => terminal.run(words()), turn);
      expect(breaches).toEqual([]);
      expect(lies).toBeGreaterThan(isShort ? 5 : 9);
    },
  );

  const typed: readonly (readonly [string, () => readonly string[]])[] = [
    ['a message, the mode and the status', () => ['/mode', '\t/mode ', '/mode echo', 'hello', '/status']],
    ['the usual mode, at the prompt', () => ['hello', '/status']],
    ['a search', () => ['/search hello']],
    ['Tab over sessions', () => ['\t/resume ', `\t/resume ${id.slice(0, 8)}`]],
    ['the list of sessions', () => ['/sessions']],
    ['a session that is resumed', () => [`/resume ${id}`, '/history', '/title', '/title A title']],
    ['a session that is new', () => ['/new A title']],
    ['a session that goes and comes back', () => [`/delete ${other}`, '/restore']],
  ];
  test.each(typed.map((one, turn) => [...one, turn] as const))(
    'in the REPL: %s',
    async (_name, lines, turn) => {
      const { lies, breaches } = await breachesOf(() => terminal.repl(lines()), turn);
      expect(breaches).toEqual([]);
      expect(lies).toBeGreaterThan(isShort ? 5 : 9);
    },
  );
});
