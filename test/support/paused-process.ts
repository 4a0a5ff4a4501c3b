// A chat whose process is stopped (SIGSTOP) for longer than its lease, taken over by another process meanwhile, and continued (SIGCONT): the result
// of each of the two, and the final contents of the store.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { callWith } from './calls.ts';
import type { ChatReport, Chatting } from './chatting-process.ts';
import { newKey, openEmbedded } from './embedded.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

export interface PausedProcess {
  readonly stopped: readonly ChatReport[];
  readonly other: readonly ChatReport[];
  /** The time from SIGCONT to the stop of the first engine, in ms; null if it was not stopped. */
  readonly stoppedAfterMs: number | null;
  readonly stored: readonly {
    readonly message_id: string;
    readonly content: string;
    readonly finish_reason: string;
  }[];
}

export interface PausedProcessOptions {
  /** An empty directory of the caller. */
  readonly directory: string;
  readonly turnLeaseMs: number;
  readonly stopMs: number;
  /** True: both use one idempotency key, so that the other process takes the same turn. Otherwise it sends another message. */
  readonly withKey: boolean;
}

/** Node runs no TypeScript on all versions that Parley supports, so the process is bundled first. */
export function bundleChattingProcess(directory: string): Promise<string> {
  return bundleProcess(directory, 'chatting-process');
}

/** `name`: that of a file in this folder. `directory` must be new. */
export async function bundleProcess(directory: string, name: string): Promise<string> {
  const built = await rolldown({
    input: join(repository, `test/support/${name}.ts`),
    platform: 'node',
    external: ['better-sqlite3'],
  });
  const file = join(directory, `${name}.mjs`);
  await built.write({ file, format: 'esm', codeSplitting: false });
  await built.close();
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  return file;
}

export function chatIn(script: string, chatting: Chatting) {
  const child: ChildProcess = fork(script);
  const reports: ChatReport[] = [];
  const times: number[] = [];
  child.on('message', (one: ChatReport) => {
    reports.push(one);
    times.push(performance.now());
  });
  const ended = once(child, 'exit');
  child.send(chatting);
  return { child, reports, times, ended };
}

export async function runPausedProcess(
  script: string,
  options: PausedProcessOptions,
): Promise<PausedProcess> {
  const { directory, turnLeaseMs, stopMs, withKey } = options;
  const backend = await openEmbedded(directory);
  const apiKey = await newKey(backend, 'project');
  const session = (await backend.service.createSession(callWith(apiKey), { title: null })).data.session_id;
  const shared = { directory, apiKey, session, turnLeaseMs, turnWaitMs: stopMs * 2 };
  const first = chatIn(script, {
    ...{ ...shared, message: 'hello', key: withKey ? 'k' : null },
    ...{ chunks: Array.from({ length: 1000 }, (_, index) => `${index} `), everyMs: 20 },
  });
  try {
    await once(first.child, 'message');
    first.child.kill('SIGSTOP');
    const heldUntil = performance.now() + stopMs;
    const second = chatIn(script, {
      ...{ ...shared, message: withKey ? 'hello' : 'next', key: withKey ? 'k' : null },
      ...{ chunks: ['of the other'], everyMs: 0 },
    });
    await second.ended;
    await delay(Math.max(0, heldUntil - performance.now()));
    const continuedAt = performance.now();
    first.child.kill('SIGCONT');
    await first.ended;
    const at = first.reports.findIndex(({ kind }) => kind === 'stopped engine');
    const page = { limit: 200, cursor: null };
    const { items } = (await backend.archive.listMessages(callWith(apiKey), session, page)).data;
    const stored = items.map(({ message_id, content, finish_reason }) => ({
      ...{ message_id, content, finish_reason: finish_reason ?? 'user' },
    }));
    const stoppedAfterMs = at < 0 ? null : (first.times[at] ?? 0) - continuedAt;
    return { stopped: first.reports, other: second.reports, stoppedAfterMs, stored };
  } finally {
    first.child.kill('SIGKILL');
    await backend.close();
  }
}

/** The faults in the results of the paused chat, as text. */
export function faultsOf({ stopped, other, stoppedAfterMs, stored }: PausedProcess): readonly string[] {
  const ids = new Set(stored.map(({ message_id }) => message_id));
  const unkept = [...stopped, ...other].filter(
    (event) => event.kind === 'done' && !ids.has(event.message_id),
  );
  return [
    ...unkept.map((event) => `done for a reply that is kept nowhere: ${JSON.stringify(event)}`),
    ...(stoppedAfterMs === null ? ['the engine was not stopped'] : []),
    ...((stoppedAfterMs ?? 0) > 1000 ? [`the engine was stopped after ${stoppedAfterMs} ms`] : []),
    ...(stopped.at(-1)?.kind === 'error' ? [] : [`the first ended with ${JSON.stringify(stopped.at(-1))}`]),
    ...(other.at(-1)?.kind === 'done' ? [] : [`the other ended with ${JSON.stringify(other.at(-1))}`]),
  ];
}
