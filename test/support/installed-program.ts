// The uses of an installed package, anywhere on the disk: each succeeds or rejects. The test of the packed file has the short form;
// scripts/check-package.js runs all, under each Node.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outcomeOf, type Variables } from './parley.ts';
import { TerminalScreen } from './terminal-screen.ts';

export interface InstalledProgram {
  /** The Node and the executable. */
  readonly command: readonly [node: string, executable: string];
  /** The whole environment of the program. */
  readonly env: Variables;
  /** A directory of its own, for files. */
  readonly place: string;
}

type Uses = Readonly<Record<string, (program: InstalledProgram) => Promise<void>>>;

/** By the property that they show. They share one store, and run one after the other. */
const quickUses: Uses = {
  'a chat': async (program) => {
    assert.equal(await output(program, ['chat', '-n', '-m', 'echo', 'Hello']), 'Hello\n');
  },
  'a message from a pipe': async (program) => {
    assert.equal(await output(program, ['chat', '-m', 'echo'], 'from a pipe'), 'from a pipe\n');
  },
  '--jq': async (program) => {
    const words = ['chat', '-n', '-m', 'echo', 'Hello', '--jq', '.data.reply | test("^H.l+o$")'];
    assert.equal(await output(program, words), 'true\n');
  },
  'an export as HTML': async (program) => {
    await output(program, ['chat', '-m', 'echo'], '```js\nconst answer = 42;\n```\n');
    const page = await output(program, ['sessions', 'export', '--all', '--format', 'html', '-o', '-']);
    assert.match(page, /^<!doctype html>/i);
    assert.match(page, /<code class="language-js">/);
  },
  'serve with modes from YAML, and a client of it': serveAndAsk,
};

/** Further uses by scripts/check-package.js, over the same store. */
const furtherUses: Uses = {
  'a session that is exported and imported': async (program) => {
    const file = join(program.place, 'all.ndjson');
    await output(program, ['sessions', 'export', '--all', '--format', 'json', '-o', file, '--force']);
    await output(program, ['sessions', 'import', file]);
  },
  'a search': async (program) => {
    assert.match(await output(program, ['sessions', 'search', 'pipe']), /pipe/);
  },
  'completion and help': async (program) => {
    assert.match(await output(program, ['completion', 'bash']), /parley/);
    assert.match(await output(program, ['help', 'environment']), /PARLEY_DATA_DIR/);
  },
  doctor: async (program) => {
    await output(program, ['doctor']);
  },
};

export const installedUses = { quick: quickUses, further: furtherUses };

/** The REPL, in a terminal of its own. */
export async function useRepl({ command: [node, executable], env, place }: InstalledProgram): Promise<void> {
  const screen = new TerminalScreen(node, [executable, 'repl', '-m', 'echo'], { cwd: place, env });
  try {
    await screen.until('a prompt', () => /> ?$/.test(screen.cursorRow));
    screen.type('**Hello** there\r');
    await screen.until('the reply', () => screen.rows.includes('Hello there'));
    screen.type('/quit\r');
    assert.equal((await screen.ended).status, 0);
  } finally {
    screen.close();
  }
}

/** Rejects if the program fails, or if Node warns. */
async function output(
  { command: [node, ...words], env, place }: InstalledProgram,
  more: readonly string[],
  stdin?: string,
): Promise<string> {
  const child = spawn(node, [...words, ...more], {
    cwd: place,
    env: { ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(stdin);
  const { status, out, err } = await outcomeOf(child);
  assert.equal(status, 0, `parley ${more.join(' ')} ended with ${status}: ${err}`);
  return out;
}

async function serveAndAsk(program: InstalledProgram): Promise<void> {
  const modes = join(program.place, 'modes.yaml');
  writeFileSync(modes, 'modes:\n  elsewhere:\n    base_url: http://127.0.0.1:9/v1\n    model: m\n');
  const [node, executable] = program.command;
  const child = spawn(node, [executable, 'serve', '--port', '0', '--json', '--modes', modes], {
    cwd: program.place,
    env: { ...program.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = outcomeOf(child);
  try {
    const [line] = await Promise.race([
      once(child.stdout, 'data'),
      ended.then(({ err }) => Promise.reject(err)),
    ]);
    const { url } = JSON.parse(line).data;
    const key = (await output(program, ['keys', 'create', '--project', 'p'])).trim();
    const client = { ...program, env: { ...program.env, PARLEY_URL: url, PARLEY_API_KEY: key } };
    assert.match(await output(client, ['models']), /elsewhere/);
    assert.equal(await output(client, ['chat', '-n', '-m', 'echo', 'Hello']), 'Hello\n');
    for (const path of ['/openapi.json', '/docs']) assert.equal((await fetch(`${url}${path}`)).status, 200);
  } finally {
    child.kill('SIGTERM');
  }
  assert.equal((await ended).status, 143);
}

/** The manual page, where npm has installed it. */
export function checkManual(file: string): void {
  assert.ok(existsSync(file), `${file} is missing`);
  assert.match(readFileSync(file, 'utf8'), /^\.TH PARLEY 1/im);
}
