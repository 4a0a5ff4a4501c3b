// Every state in which the terminal of the program may close: how to reach it, and what must be true afterwards.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Message, NewSession, Page } from '../../src/service/session.ts';
import { openPacedModel, type PacedModel } from './paced-model.ts';
import { Place } from './parley.ts';
import { type ScriptedServer, sendJson, serve } from './scripted-server.ts';
import type { Ending, TerminalScreen } from './terminal-screen.ts';

export interface HangUpFixture {
  readonly place: Place;
  readonly model: PacedModel;
  readonly deletions: Deletions;
  close(): Promise<void>;
}

export interface HangUpState {
  readonly name: string;
  /** Runs the program until it is in this state. */
  readonly open: (fixture: HangUpFixture) => Promise<TerminalScreen>;
  /** The expected end, if it is not `hungUp`. */
  readonly ends?: Ending;
  /** A fault in the state that the program left behind; null for none. */
  readonly leaves?: (fixture: HangUpFixture) => Promise<string | null>;
}

/** The program ended by itself, without a signal and so without a core dump. */
export const hungUp: Ending = { status: 129, signal: 0 };
const patienceMs = 10_000;

/** The exit listeners of the program have run by then. */
const pauseAtExit = `const { openSync, writeSync } = require('node:fs');
const terminal = openSync('/dev/tty', 'w');
const { reallyExit } = process;
process.reallyExit = (code) => {
  writeSync(terminal, 'leaving');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  reallyExit.call(process, code);
};`;

const env = { NO_COLOR: '1' };
const batchSize = 40;
const deletedFirst = 3;

export async function openHangUp(): Promise<HangUpFixture> {
  const place = new Place();
  const model = await openPacedModel();
  await place.output(['modes', 'add', 'slow', '--base-url', model.url, '--model', 'm']);
  await place.output(['chat', '-m', 'echo', 'the first']);
  writeFileSync(join(place.path, 'bin', 'slow-editor'), '#!/bin/sh\necho editing\nsleep 30\n', {
    mode: 0o755,
  });
  const deletions = new Deletions();
  await deletions.open();
  return {
    ...{ place, model, deletions },
    async close() {
      await Promise.all([model.close(), deletions.close()]);
      place.remove();
    },
  };
}

/** Brings the program into the state, closes the terminal, and returns how it ended; `stuck` if it did not. */
export async function hangUp(
  state: HangUpState,
  fixture: HangUpFixture,
  afterMs = 0,
): Promise<Ending | 'stuck'> {
  const screen = await state.open(fixture);
  await delay(afterMs);
  screen.hangUp();
  const ending = await Promise.race([screen.ended, delay(patienceMs, 'stuck' as const)]);
  if (ending === 'stuck') process.kill(screen.pid, 'SIGKILL');
  return ending;
}

async function atPrompt({ place }: HangUpFixture, mode: string, more = {}): Promise<TerminalScreen> {
  const screen = place.screen(['repl', '-m', mode], { env: { ...env, ...more } });
  await screen.stands(`${mode}> `);
  return screen;
}

async function newestMessages({ place }: HangUpFixture): Promise<readonly Message[]> {
  const { items } = await place.answer<Page<NewSession>>(['sessions', 'list']);
  const id = items[0]?.session_id ?? '';
  return (await place.answer<Page<Message>>(['sessions', 'messages', id])).items;
}

async function keptAsInterrupted(fixture: HangUpFixture): Promise<string | null> {
  const last = (await newestMessages(fixture)).at(-1);
  const isKept = last?.content === 'One two ' && last.finish_reason === 'interrupted';
  return isKept ? null : `kept: ${JSON.stringify(last)}`;
}

export const hangUpStates: readonly HangUpState[] = [
  { name: 'the REPL at its prompt', open: (fixture) => atPrompt(fixture, 'echo') },
  {
    name: 'the REPL with a line that is begun',
    open: async (fixture) => {
      const screen = await atPrompt(fixture, 'echo');
      screen.type('begun');
      await screen.stands('echo> begun');
      return screen;
    },
  },
  { name: 'the REPL of a dumb terminal', open: (fixture) => atPrompt(fixture, 'echo', { TERM: 'dumb' }) },
  {
    name: 'the REPL while a reply is awaited',
    open: async (fixture) => {
      const screen = await atPrompt(fixture, 'slow');
      screen.type('Hello\r');
      await fixture.model.next();
      await screen.shows('Waiting for the reply');
      return screen;
    },
  },
  {
    name: 'the REPL while a reply streams',
    open: async (fixture) => {
      const screen = await atPrompt(fixture, 'slow');
      screen.type('Hello\r');
      (await fixture.model.next()).say('One two ');
      await screen.shows('One two');
      return screen;
    },
    leaves: keptAsInterrupted,
  },
  {
    name: 'a chat while its reply streams',
    open: async ({ place, model }) => {
      const screen = place.screen(['chat', '-n', '-m', 'slow', 'Hello'], { env });
      (await model.next()).say('One two ');
      await screen.shows('One two');
      return screen;
    },
    leaves: keptAsInterrupted,
  },
  {
    name: 'the list to pick a session from',
    open: async (fixture) => {
      const screen = await atPrompt(fixture, 'echo');
      screen.type('/sessions\r');
      await screen.shows('Which session?');
      return screen;
    },
  },
  {
    name: 'the hidden question for a key',
    open: async ({ place }) => {
      const screen = place.screen(['login', '--url', 'http://127.0.0.1:9'], { env });
      await screen.until('the question', () => /^\? .*key/im.test(screen.text));
      return screen;
    },
  },
  {
    name: 'the last moment before its exit',
    open: async (fixture) => {
      const pause = join(fixture.place.path, 'pause.cjs');
      writeFileSync(pause, pauseAtExit);
      const screen = await atPrompt(fixture, 'echo', { NODE_OPTIONS: `--require=${pause}` });
      screen.type('/exit\r');
      await screen.shows('leaving');
      return screen;
    },
    ends: { status: 0, signal: 0 },
  },
  {
    name: 'an editor that has the terminal',
    open: async (fixture) => {
      const screen = await atPrompt(fixture, 'echo', { VISUAL: 'slow-editor' });
      screen.type('/edit\r');
      await screen.shows('editing');
      return screen;
    },
  },
  {
    name: 'a question before a deletion',
    open: async ({ place }) => {
      const screen = place.screen(['sessions', 'delete', '--all'], { env });
      await screen.shows('(y/N)');
      return screen;
    },
    leaves: async ({ place }) => ((await place.output(['sessions', 'list'])) === '' ? 'deleted' : null),
  },
  {
    name: 'a batch of chats',
    open: async ({ place, model }) => {
      const lines = Array.from({ length: batchSize }, (_, index) => `message ${index}\n`);
      writeFileSync(join(place.path, 'in.txt'), lines.join(''));
      const line = 'exec parley chat --batch --concurrency 1 -m slow < in.txt > out.ndjson';
      const screen = place.lineScreen(line, { env });
      const first = await model.next();
      first.say('One.');
      first.end();
      (await model.next()).say('Two ');
      await screen.until('a line', () =>
        readFileSync(join(place.path, 'out.ndjson'), 'utf8').includes('One.'),
      );
      return screen;
    },
    leaves: resumedWhole,
  },
  { name: 'a batch of deletions', open: openDeletions, leaves: deletedRest },
];

const ids = Array.from({ length: 20 }, (_, index) => `ses_${index}`);

/** Answers the first deletions, and then none until it is released. */
class Deletions {
  readonly deleted = new Set<string>();
  #server: ScriptedServer | null = null;
  #heard = () => {};
  stalls = true;

  async open(): Promise<void> {
    this.#server = await serve(({ method, path }, response) => {
      const session_id = path.split('/').at(-1) ?? '';
      if (method === 'DELETE' && this.stalls && this.deleted.size >= deletedFirst) return this.#heard();
      if (method === 'DELETE') this.deleted.add(session_id);
      sendJson(response, { success: true, data: { project_id: 'prj_1', session_id } });
    });
  }

  get flags(): readonly string[] {
    return ['--concurrency', '1', '--url', this.#server?.url ?? ''];
  }

  stalled(): Promise<void> {
    this.deleted.clear();
    this.stalls = true;
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}

const withKey = { ...env, PARLEY_API_KEY: 'none', NO_PROXY: '*' };

async function openDeletions({ place, deletions }: HangUpFixture): Promise<TerminalScreen> {
  const stalled = deletions.stalled();
  const words = ['sessions', 'delete', ...ids, '--yes', ...deletions.flags];
  const screen = place.screen(words, { env: withKey });
  await stalled;
  return screen;
}

/** As after Ctrl-C: the journal records what was done, and `--resume` does the rest. */
async function deletedRest({ place, deletions }: HangUpFixture): Promise<string | null> {
  deletions.stalls = false;
  const [batch = ''] = readdirSync(join(place.dataDirectory, 'batches')).sort().slice(-1);
  const words = ['sessions', 'delete', '--resume', batch.replace(/\..*$/, ''), ...deletions.flags];
  const { status, out, err } = await place.parley(words, { env: withKey });
  const rest = out.trimEnd().split('\n').length;
  const isWhole = status === 0 && rest === ids.length - deletedFirst && deletions.deleted.size === ids.length;
  return isWhole ? null : `resumed ${batch}: ${status}, ${rest} deleted; ${err}`;
}

/** As after Ctrl-C: the same command with --resume does the rest, and repeats nothing. */
async function resumedWhole({ place, model }: HangUpFixture): Promise<string | null> {
  const command = 'parley chat --batch --resume out.ndjson --concurrency 1 -m slow < in.txt';
  const resumed = place.shell(command);
  for (let left = batchSize - 1; left > 0; left--) {
    const reply = await model.next();
    reply.say('Again.');
    reply.end();
  }
  const { status, err } = await resumed;
  const results = readFileSync(join(place.path, 'out.ndjson'), 'utf8').trimEnd().split('\n');
  const isWhole = status === 0 && results.length === batchSize;
  return isWhole ? null : `resumed: ${status}, ${results.length} results, ${err}`;
}
