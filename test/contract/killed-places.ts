// The service in processes that can be killed: embedded or at a port, over SQLite or PostgreSQL. Over PostgreSQL two servers alternate, and while
// one is killed the other continues.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Backend, EmbeddedBackend } from '../../src/service/backend.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { LinesChild } from '../support/lines-child.ts';
import type { LinesStore } from '../support/lines-process.ts';
import { bundleProcess } from '../support/paused-process.ts';
import type { PostgresDatabase } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { textsInFiles, textsInRows } from '../support/remaining-texts.ts';
import { openRemote } from '../support/remote.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { type LinesPlace, projectName, ScriptedEngine } from './lines-place.ts';

export interface KilledPlace {
  readonly database: 'SQLite' | 'PostgreSQL';
  /** How many processes serve; 0 for one process with the embedded service. */
  readonly servers: number;
}

/** The file of the process, for all places of a test file. */
export async function bundleLines(): Promise<{ readonly script: string; remove(): Promise<void> }> {
  const { path, remove } = await temporaryDirectory();
  const program = join(path, 'program');
  mkdirSync(program);
  return { script: await bundleProcess(program, 'lines-process'), remove };
}

export async function openKilledPlace(
  script: string,
  { database, servers }: KilledPlace,
): Promise<LinesPlace> {
  const directory = await temporaryDirectory();
  const postgres = database === 'PostgreSQL' ? await sharedPostgres() : null;
  const opening = postgres && (async () => (await openPostgresStore(postgresOptions(postgres))).store);
  let store: SessionStore | null = null;
  // The process of the test has the administration, and the store for turns that other processes begin.
  const own = await openEmbedded(directory.path, {
    ...(opening && { openStore: opening }),
    around: (opened) => {
      store = opened;
      return opened;
    },
  });
  if (store === null) throw new Error('The store was not opened.');
  const engine = new ScriptedEngine();
  const processes = new Processes(
    script,
    { ...processStore(directory.path, postgres), serves: servers > 0 },
    engine,
    Math.max(1, servers),
  );
  await processes.start();
  onTestFinished(async () => {
    await processes.stop();
    await own.close();
    await directory.remove();
  });
  return {
    get backend() {
      return processes.backend;
    },
    engine,
    store,
    newKey: () => newKey(own, projectName()),
    cutsLater: servers > 0,
    comparedEach: 5,
    textsLeft: (texts) =>
      postgres === null ? textsInFiles(directory.path, texts) : textsInRows(postgres, texts),
    kills: processes,
  };
}

function processStore(directory: string, postgres: PostgresDatabase | null): Omit<LinesStore, 'serves'> {
  if (postgres === null) return { directory, postgres };
  const { port, user, database } = postgres;
  return { directory, postgres: { port, user, database } };
}

/** The processes of a place. Each operation goes to the next. */
class Processes {
  readonly #script: string;
  readonly #store: LinesStore;
  readonly #engine: ScriptedEngine;
  /** How many there are before a kill. */
  readonly #count: number;
  #members: { readonly child: LinesChild; readonly backend: Backend }[] = [];
  #turn = 0;

  constructor(script: string, store: LinesStore, engine: ScriptedEngine, count: number) {
    this.#script = script;
    this.#store = store;
    this.#engine = engine;
    this.#count = count;
  }

  get backend(): Backend {
    this.#turn += 1;
    return this.#member().backend;
  }

  async start(count = this.#count): Promise<void> {
    while (this.#members.length < count) {
      const child = await LinesChild.start(this.#script, this.#store, this.#engine);
      const remote = this.#store.serves
        ? await openRemote(child.url, { newIdempotencyKey: randomUUID })
        : null;
      this.#members.push({ child, backend: remote?.backend ?? child.backend });
    }
  }

  /**
   * Runs an operation in a process that is killed on the way, and resolves when another process can go on. `run` gets the service and its
   * administration, and must settle whatever they do.
   */
  async during(
    moment: Parameters<LinesChild['killAt']>[0],
    lateMs: number,
    run: (backend: Backend, administration: EmbeddedBackend['administration']) => Promise<void>,
  ): Promise<void> {
    await this.start();
    const member = this.#member();
    member.child.killAt(moment, lateMs);
    await run(member.backend, member.child.backend.administration);
    await member.child.kill();
    await member.backend.close();
    this.#members = this.#members.filter((other) => other !== member);
    // Another server goes on alone.
    await this.start(1);
  }

  async stop(): Promise<void> {
    for (const { child, backend } of this.#members) {
      await child.kill();
      await backend.close();
    }
  }

  #member() {
    const member = this.#members[this.#turn % this.#members.length];
    if (member === undefined) throw new Error('No process has the service.');
    return member;
  }
}
