// A server all of whose texts are hostile at once, and the real program at a real terminal: each command. Every attack, field by field, and
// the REPL are tried in test/cli/terminal/every-field.test.ts, in one process.
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'none', NO_COLOR: '1' };
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

/** Sequences of Parley's own, without colours: moves, what is cleared, and the modes of the terminal that it sets and takes back. */
const own = /\x1b\[(?:\?(?:25|2026|2004)[lh]|\d*[ABCDGJK])|\r\n/g;
/** Up to 40 characters before and after the first that drives a terminal; nothing where there is none. */
function breachIn(written: string): string {
  const characters = [...written];
  const at = characters.findIndex((character) => !isHarmless(character));
  return at === -1 ? '' : JSON.stringify(characters.slice(Math.max(0, at - 40), at + 40).join(''));
}

/** One after the other in a terminal of their own. */
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

test.each([
  ['answers', answers],
  ['failures', failures],
] as const)('no command drives a terminal with %s all of whose texts are hostile', async (_, lie) => {
  await server.lying(lie, async () => {
    const all = await Promise.all(commands().map(shown));
    for (const [index, bytes] of all.entries()) {
      const what = String(commands()[index]);
      expect([what, breachIn(bytes.replace(own, ''))]).toEqual([what, '']);
      expect(bytes).toContain('\\x1b');
    }
  });
});
