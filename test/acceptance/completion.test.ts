// Shell completion: the words that are offered, and that bash, zsh and fish insert each as one word and run no text of a server.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasCommand } from '../support/machine.ts';
import type { Typing } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new PlaceInProcess();
let session = '';
let server: ScriptedServer;
const pwned = join(place.path, 'pwned');
const evil = `$(touch\${IFS}${pwned})\`touch\${IFS}${pwned}\`;'"&|<>*?[a]{b,c}\\~#!`;
const env = { PARLEY_API_KEY: 'k' };

beforeAll(async () => {
  session = (await place.output(['sessions', 'create', '--title', 'About: tea\u202e & co'])).trim();
  server = await serve((request, response) => {
    if (request.path.startsWith('/v1/models')) {
      const names = ['plain', evil, '--yes', ':files', 'a\tb', 'a\nb', 'a\u001b[2J', ''];
      return sendJson(response, {
        success: true,
        data: names.map((name) => ({ name, description: `\u001b]0;x\u0007${'é'.repeat(200)}\n:files` })),
      });
    }
    if (!request.path.includes('?'))
      return sendJson(response, { success: true, data: { session_id: evil, title: 'the evil one' } });
    const item = {
      session_id: evil,
      title: `$(touch ${pwned})`,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
      message_count: 0,
    };
    return sendJson(response, { success: true, data: { items: [item], next_cursor: null } });
  });
});
afterAll(async () => {
  await server.close();
  place.remove();
});

async function candidates(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const { status, out, err } = await place.parley(['__complete', '--', ...words], { env: more });
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return out.split('\n').slice(0, -1);
}

const wordsOf = (lines: readonly string[]) => lines.map((line) => line.split('\t')[0]);

describe('the possible next words', () => {
  test('are the commands of the help, described as there', async () => {
    const lines = await candidates(['']);
    const help = await place.output(['--help']);
    const listed = /\nCommands:\n((?: {2,}.*\n)+)/.exec(help)?.[1]?.match(/^ {2}\w+/gm) ?? [];
    expect(wordsOf(lines)).toEqual(listed.map((name) => name.trim()));
    expect(lines).toContain('models\tlist the available modes; * marks the default');
    expect(wordsOf(await candidates(['sessions', '']))).toContain('delete');
  });

  test('after a minus are the options of the command, and those that hold everywhere', async () => {
    const words = wordsOf(await candidates(['sessions', 'delete', '--']));
    expect(words).toEqual(expect.arrayContaining(['--yes', '--dry-run', '--profile', '--jq']));
    expect(words).not.toContain('--no-stream');
    expect(await candidates(['sessions', 'delete', '--', '--'])).toEqual(
      await candidates(['sessions', 'delete', '']),
    );
  });

  test.each([
    ['a mode', ['chat', '--mode', ''], ['eliza', 'echo']],
    ['a mode after an equals sign', ['chat', '--mode='], ['--mode=eliza', '--mode=echo']],
    ['a mode after a short option', ['--quiet', 'chat', 'hello', '-m', ''], ['eliza', 'echo']],
    ['a profile', ['--profile', ''], ['local']],
    ['a profile as an argument', ['profiles', 'use', ''], ['local']],
    ['one of some words', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['a sort', ['sessions', 'list', '--sort', ''], ['updated', 'created']],
    ['a file', ['chat', '-f', ''], [':files']],
    ['free text', ['chat', 'hello', ''], []],
    ['a value that nobody knows', ['sessions', 'list', '--limit', ''], []],
    ['nothing after the last argument', ['completion', 'bash', ''], []],
    ['a command after help', ['help', 'profiles', ''], ['list', 'use', 'remove']],
  ])('are of %s', async (_what, words, expected) => {
    // The command gives the service 0.9 s, which is too short on a busy machine, so it runs again.
    await expect.poll(async () => wordsOf(await candidates(words))).toEqual(expected);
  });

  test('after help are topics as well', async () => {
    expect(wordsOf(await candidates(['help', '']))).toEqual(
      expect.arrayContaining(['chat', 'exit-codes', 'formatting']),
    );
  });

  test('are sessions with their titles, without dangerous characters', async () => {
    const line = `${session}\tAbout: tea\\u{202e} & co`;
    for (const words of [
      ['sessions', 'get', ''],
      ['sessions', 'delete', 'x', 'y', ''],
      ['chat', '-s', ''],
    ]) {
      await expect.poll(() => candidates(words)).toEqual([line]);
    }
    expect(await candidates(['sessions', 'restore', ''])).toEqual([]);
  });

  test('come from the service that the line names', async () => {
    await expect
      .poll(() => candidates(['--url', server.url, 'chat', '-m', ''], env))
      .toEqual(['plain', evil].map((name) => `${name}\t\\x1b]0;x\\x07${'é'.repeat(68)}…`));
  });

  test('are none, soon and without an error, if no service responds', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const began = performance.now();
    for (const url of [`http://127.0.0.1:${port}`, 'http://127.0.0.1:1', 'http://example.com', 'nonsense']) {
      expect(await candidates(['--url', url, 'sessions', 'get', ''], env)).toEqual([]);
    }
    expect(performance.now() - began).toBeLessThan(15_000);
    silent.close();
    expect(await candidates(['--profile', 'nope', 'chat', '-m', ''])).toEqual([]);
  });

  test('create no store and no key', async () => {
    const fresh = new PlaceInProcess();
    for (const words of [
      ['chat', '-m', ''],
      ['sessions', 'get', ''],
      ['keys', 'revoke', ''],
      ['profiles', 'use', ''],
    ]) {
      for (const more of [{}, env]) {
        const { status, err } = await fresh.parley(['__complete', '--', ...words], { env: more });
        expect({ status, err }).toEqual({ status: 0, err: '' });
      }
    }
    expect([fresh.dataDirectory, fresh.configDirectory].filter((path) => existsSync(path))).toEqual([]);
    expect(readdirSync(fresh.path)).toEqual(['bin']);
    fresh.remove();
  });
});

describe('bash', () => {
  const script = 'completion.bash';
  const withScript = async (where: PlaceInProcess) =>
    writeFileSync(join(where.path, script), await where.output(['completion', 'bash']));
  beforeAll(() => withScript(place));

  /** The words that the script offers for a line that bash has split into these words. */
  async function offered(
    words: readonly string[],
    line = `parley ${words.join(' ')}`,
    more = {},
    where = place,
  ): Promise<readonly string[]> {
    const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
    const { out, err } = await where.shell(
      `source ./${script}
COMP_LINE=${quoted(line)} COMP_POINT=\${#COMP_LINE}
COMP_WORDS=(parley ${words.map(quoted).join(' ')}) COMP_CWORD=${words.length}
_parley 2> >(grep -v compopt >&2)
printf '%s\\n' "\${COMPREPLY[@]}"`,
      more,
    );
    expect(err).toBe('');
    return out.split('\n').filter((reply) => reply !== '');
  }

  test('offers what begins with the word', async () => {
    expect(await offered(['sess'])).toEqual(['sessions']);
    expect(await offered(['sessions', 'get', ''])).toEqual([session]);
    expect(await offered(['chat', '-m', 'e'])).toEqual(['eliza', 'echo']);
    expect(await offered(['nothing'])).toEqual([]);
  });

  test('lists the newest ten sessions with their titles, and more once a prefix is typed', async () => {
    const many = removeAfterTest(new PlaceInProcess());
    const records = Array.from({ length: 12 }, (_, number) => {
      const at = `2026-01-${10 + number}T00:00:00.000Z`;
      const facts = { session_id: `ses_number_${number}`, title: `Title ${number}`, message_count: 0 };
      return JSON.stringify({ session: { ...facts, created_at: at, updated_at: at }, messages: [] });
    });
    await many.output(['sessions', 'import', '-'], { stdin: records.join('\n') });
    await withScript(many);
    const listed = await offered(['chat', '-s', ''], undefined, { COMP_TYPE: '63' }, many);
    expect(listed).toHaveLength(10);
    expect(listed[0]).toBe('ses_number_11  Title 11');
    expect(await offered(['chat', '-s', 'ses_'], undefined, { COMP_TYPE: '9' }, many)).toHaveLength(12);
    expect((await offered(['chat', '-s', ''], undefined, { COMP_TYPE: '9' }, many))[0]).toBe('ses_number_11');
  });

  test('offers the value alone where bash has split off the option', async () => {
    expect(await offered(['chat', '--mode', '='], 'parley chat --mode=')).toEqual(['eliza', 'echo']);
    expect(await offered(['chat', '--mode', '=', 'ec'], 'parley chat --mode=ec')).toEqual(['echo']);
  });

  test('offers files', async () => {
    expect(await offered(['chat', '-f', 'b'])).toEqual(['bin']);
  });

  // The bash of macOS passes whole words, has no compopt, and knows `@(a|b)` only where a user has set extglob.
  test('replaces only the last part of a whole word of bash 3.2, and leaves file names to it', async () => {
    const written = readFileSync(join(place.path, script), 'utf8');
    expect(written).not.toMatch(/== *[@?*+!]\(/);
    writeFileSync(join(place.path, script), written.replaceAll('BASH_VERSINFO[0]', '3'));
    try {
      expect(await offered(['chat', '--mode=ec'])).toEqual(['echo']);
      expect(await offered(['chat', '-m', 'ec'])).toEqual(['echo']);
      expect(await offered(['chat', '-f', 'b'])).toEqual([]);
      expect((await place.shell(`source ./${script}; complete -p parley`)).out).toContain('-o default');
    } finally {
      writeFileSync(join(place.path, script), written);
    }
  });

  test('quotes text of a server, and runs none of it', async () => {
    const line = `parley --url ${server.url} chat -m `;
    const [scheme = '', rest = ''] = server.url.split('://');
    const [host = '', port = ''] = rest.split(':');
    const words = ['--url', scheme, ':', `//${host}`, ':', port, 'chat', '-m', ''];
    const [plain, quoted = ''] = await offered(words, line, env);
    expect(plain).toBe('plain');
    expect((await place.shell(`printf %s ${quoted}`)).out).toBe(evil);
    expect(existsSync(pwned)).toBe(false);
  });
});

/** Shells with the usual settings of a user. */
const interactive: readonly { readonly shell: string; readonly start: string; readonly load: string }[] = [
  { shell: 'bash', start: 'bash --norc --noprofile -i', load: 'eval "$(parley completion bash)"' },
  {
    shell: 'zsh',
    start: 'zsh -f -i',
    load: 'autoload -Uz compinit; compinit -D; eval "$(parley completion zsh)"',
  },
  { shell: 'fish', start: 'fish --no-config -i', load: 'parley completion fish | source' },
];

describe.each(interactive)('$shell at a terminal', ({ shell, start, load }) => {
  test.runIf(hasCommand(shell))(
    'completes commands and sessions, and inserts text of a server as one word',
    { timeout: 60_000 },
    async () => {
      // The marker is typed in two parts, so that only its output contains it.
      const mark = (step: number) => `echo 're''ady'-${step}\r`;
      const typing: readonly Typing[] = [
        { after: 'begin', keys: `${load}; ${mark(1)}` },
        {
          after: 'ready-1',
          keys: `parley sess\tge\tses\t --jq .data.title; export PARLEY_API_KEY=k; ${mark(2)}`,
        },
        { after: 'ready-2', keys: `parley --url ${server.url} sessions get \t --jq .data.title; ${mark(3)}` },
        { after: 'ready-3', keys: 'exit\r' },
      ];
      const before = server.requests.length;
      const { out } = await place.terminal(`stty rows 40 cols 300; echo begin; exec ${start}`, {}, typing);
      expect(out).toContain('About: tea\\u{202e} & co');
      const paths = server.requests.slice(before).map(({ path }) => decodeURIComponent(path));
      expect(paths.filter((path) => !path.includes('?limit='))).toEqual([`/v1/sessions/${evil}`]);
      expect(existsSync(pwned)).toBe(false);
    },
  );
});

test.runIf(hasCommand('zsh'))(
  'zsh shortens descriptions to the width of the terminal',
  { timeout: 60_000 },
  async () => {
    const load = 'autoload -Uz compinit; compinit -D; eval "$(parley completion zsh)"';
    const typing: readonly Typing[] = [
      { after: 'begin', keys: `${load}; echo re''ady\r` },
      { after: 'ready', keys: 'parley sessions \t' },
      { after: 'import ', keys: '\x15exit\r' },
    ];
    const { out } = await place.terminal('stty rows 40 cols 60; echo begin; exec zsh -f -i', {}, typing);
    const rows = stripVTControlCharacters(out).match(/^[a-z]+ +-- .*/gm) ?? [];
    expect(rows.length).toBeGreaterThan(15);
    for (const row of rows) expect(row.trimEnd().length).toBeLessThan(60);
    expect(rows.join('\n')).toContain('list       -- list sessions, the most recently active first');
  },
);
