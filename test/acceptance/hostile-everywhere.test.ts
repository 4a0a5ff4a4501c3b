// A server with hostile text in all fields, and the real program at a real terminal: each command, each slash command, Tab, and the lists to
// choose from. test/cli/terminal/every-field.test.ts tries every attack in every field, in one process.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slashCommands } from '../../src/cli/repl/slash-commands.ts';
import { attacks, isHarmless } from '../cli/terminal/attacks.ts';
import { HostileAnswers, type Lie } from '../cli/terminal/hostile-answers.ts';
import { Place } from '../support/parley.ts';

const place = new Place();
let server: HostileAnswers;
let env: Readonly<Record<string, string>>;
let id = '';
let other = '';
beforeAll(async () => {
  server = await HostileAnswers.open();
  env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'none', NO_COLOR: '1', PAGER: 'cat' };
  for (const message of ['hello one', 'hello two']) {
    const answer = await server.fixture.ask('POST', '/v1/chat', { body: { mode: 'echo', message } });
    [other, id] = [id, ((await answer.json()) as { data: { session_id: string } }).data.session_id];
  }
});
afterAll(async () => {
  await server.close();
  place.remove();
});

const every = Object.values(attacks).join('');
const word = '\x1b]52;c;cm0gLXJmIH4=\x07x\u202ey\u009d52;c;AAAA\u009cz';
const answers: Lie = { everywhere: { word }, text: every };
const failures: Lie = { status: 422, text: every };

/** Parley's own sequences, without colours: moves, clearing, and the modes of the terminal that it sets and resets. */
const own = /\x1b\[(?:\?(?:25|2026|2004)[lh]|\d*[ABCDGJK])|\r/g;
/** The additional sequences of its line editor and its lists. */
const ownOfLines = /\r|\x07/g;

/** Up to 40 characters before and after the first one that controls a terminal; empty if there is none. */
function breachIn(written: string): string {
  const characters = [...written];
  const at = characters.findIndex((character) => !isHarmless(character));
  return at === -1 ? '' : JSON.stringify(characters.slice(Math.max(0, at - 40), at + 40).join(''));
}

/** Runs one after the other in a terminal of its own. */
async function shown(lines: readonly string[]): Promise<string> {
  const screen = place.lineScreen(lines.map((line) => `parley ${line}`).join('; '), {
    env,
    columns: 300,
    rows: 50,
  });
  await screen.ended;
  const { bytes } = screen;
  screen.close();
  return bytes;
}

const commands = () => [
  ['verify', 'verify --debug', 'models', 'doctor', `chat -n -s ${id} hi`, 'chat -n -m echo --json hi'],
  ['chat -n -m echo --usage --reasoning hi', 'chat -n -m echo --no-stream hi', `sessions get ${id} ${other}`],
  ['sessions create --title x', 'sessions list', 'sessions list --ids', 'sessions search hello'],
  [
    `sessions messages ${id}`,
    `sessions rename ${id} "A title"`,
    `sessions export ${id}`,
    `sessions delete ${id}`,
  ],
  [
    `sessions get ${other}`,
    `sessions restore ${id}`,
    `sessions delete ${id} ${other} --yes`,
    `sessions restore ${id} ${other}`,
  ],
  [
    'sessions delete --all --dry-run',
    '__complete -- chat -s ""',
    '__complete -- chat -m ""',
    'sessions list --json',
  ],
];

// The same code shows a failure of each command, so a few commands are enough.
test.each([
  ['answers', answers, commands],
  ['failures', failures, () => commands().map((group) => group.slice(0, 1))],
] as const)(
  'no command drives a terminal with %s all of whose texts are hostile',
  async (_, lie, failing) => {
    await server.lying(lie, async () => {
      const all = await Promise.all(failing().map(shown));
      for (const [index, bytes] of all.entries()) {
        const what = String(failing()[index]);
        expect([what, breachIn(bytes.replace(own, ''))]).toEqual([what, '']);
        expect(bytes).toContain('\\x1b');
      }
    });
  },
);

test('text in the REPL, its commands, its completions and its lists cannot control a terminal', async () => {
  await server.lying(answers, async () => {
    const screen = place.screen(['repl', '-m', 'echo'], { env, columns: 100, rows: 40 });
    /** True if there is a prompt, or if a question has had no output for a while. */
    const answered = async (before: number): Promise<boolean> => {
      for (let quiet = 0, length = before; quiet < 240; quiet += 20) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        const { bytes, cursorRow } = screen;
        if (bytes.length > before && bytes.length === length && cursorRow.endsWith('>')) return true;
        if (bytes.length !== length) quiet = 0;
        ({ length } = bytes);
      }
      return false;
    };
    /** Answers a list or a question with its first choice. */
    const enter = async (keys: string) => {
      for (let typed = keys, tries = 0; tries < 4; typed = '\r', tries++) {
        const { length } = screen.bytes;
        screen.type(typed);
        if (await answered(length)) return;
      }
    };
    await screen.until('the prompt', () => screen.cursorRow === 'echo>');
    for (const line of ['hello', `/resume ${id}`, '/search hello', '/title A title'])
      await enter(`${line}\r`);
    const left = ['quit', 'exit', 'copy', 'edit'];
    const names = slashCommands.map(({ name }) => name).filter((name) => !left.includes(name));
    for (const name of names) await enter(`/${name}\r`);
    // Tab completes the names; then the line is left.
    for (const beginning of ['/mode ', '/resume ']) {
      const { length } = screen.bytes;
      screen.type(`${beginning}\t\t`);
      await screen.until('the list', () => screen.bytes.slice(length).includes('\\x1b'));
      await enter('\x03');
    }
    screen.type('\x04');
    await screen.ended;
    expect(screen.bytes.match(/\\x1b/g)?.length).toBeGreaterThan(100);
    expect(breachIn(screen.bytes.replace(own, '').replace(ownOfLines, ''))).toBe('');
    expect(Object.values(attacks).filter((attack) => screen.bytes.includes(attack))).toEqual([]);
    const typed = [...screen.text.matchAll(/> \/(\w+)/gm)].map(([, name]) => name);
    expect(typed).toEqual(expect.arrayContaining(names));
    screen.close();
  });
}, 30_000);
