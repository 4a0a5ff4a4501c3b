// Places that are synced with each other by the real command in this process. Each has an embedded service over its own store, a clock with its own
// offset, and a new project at each `begin`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';
import type { ItemResult } from '../../src/cli/session-batch/batch-report.ts';
import { createOutput } from '../../src/cli/terminal/output.ts';
import { emptyProfile } from '../../src/config/stored-config.ts';
import type { Backend, EmbeddedBackend } from '../../src/service/backend.ts';
import type { Call } from '../../src/service/call.ts';
import { isHidden, type Message, type Session } from '../../src/service/session.ts';
import { anySession, firstCreatedFirst, type SessionRecord } from '../../src/service/session-archive.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { callWith } from './calls.ts';
import { newKey, openEmbedded, temporaryDirectory } from './embedded.ts';
import { hostInProcess } from './host-in-process.ts';

export interface SyncedPlace {
  readonly name: string;
  readonly backend: EmbeddedBackend;
  readonly call: Call;
  readonly projectId: string;
  /** Reads its clock without advancing it. */
  now(): number;
}

export interface SyncOutcome {
  readonly status: number;
  readonly results: readonly ItemResult[];
  readonly err: string;
}

let projects = 0;

export class SyncedPlaces {
  readonly #directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  readonly #backends: readonly EmbeddedBackend[];
  readonly #skews: readonly number[];
  #time = Date.parse('2026-01-01T00:00:00.000Z');
  /** Wraps the backend of a place, as the command opens it. */
  around: (backend: Backend, place: SyncedPlace) => Backend = (backend) => backend;

  /** `stores`: opens the store of a place, if it is not SQLite. */
  static async open(
    skews: readonly number[],
    stores: readonly (() => Promise<SessionStore>)[] = [],
  ): Promise<SyncedPlaces> {
    const directory = await temporaryDirectory();
    const places = new SyncedPlaces(directory, skews, []);
    const backends: EmbeddedBackend[] = [];
    for (const [index, skew] of skews.entries()) {
      const path = join(directory.path, `store-${index}`);
      mkdirSync(path);
      const openStore = stores[index];
      const now = () => places.#tick() + skew;
      backends.push(await openEmbedded(path, { now, ...(openStore && { openStore }) }));
    }
    const opened = new SyncedPlaces(directory, skews, backends);
    places.#tick = () => opened.#tick();
    return opened;
  }

  private constructor(
    directory: Awaited<ReturnType<typeof temporaryDirectory>>,
    skews: readonly number[],
    backends: readonly EmbeddedBackend[],
  ) {
    this.#directory = directory;
    this.#skews = skews;
    this.#backends = backends;
  }

  /** Creates new projects at the first places. */
  async begin(count = this.#backends.length): Promise<readonly SyncedPlace[]> {
    projects += 1;
    return Promise.all(
      this.#backends.slice(0, count).map(async (backend, index) => {
        const call = callWith(await newKey(backend, `project ${projects}`));
        const { project_id: projectId } = (await backend.service.verify(call)).data;
        const now = () => this.#time + (this.#skews[index] ?? 0);
        return { name: `place${index}`, backend, call, projectId, now };
      }),
    );
  }

  async sync(here: SyncedPlace, there: SyncedPlace, ...words: readonly string[]): Promise<SyncOutcome> {
    const written = { stdout: '', stderr: '' };
    const { signal } = new AbortController();
    const outputOf = (name: 'stdout' | 'stderr') =>
      createOutput(
        new Writable({
          write(bytes: Buffer, _encoding, done) {
            written[name] += bytes;
            done();
          },
        }),
        { role: name === 'stdout' ? 'data' : 'talk', env: {}, noColor: true, signal },
      );
    const outputs = { stdout: outputOf('stdout'), stderr: outputOf('stderr') };
    let requests = 0;
    const host = hostInProcess({
      directory: this.directoryOf(here),
      outputs,
      stdin: [],
      signal,
      newRequestId: () => `req_${++requests}`,
      openBackend: async ({ url }) => {
        const place = url === null ? here : there;
        const openBackend: Backend = { ...place.backend, close: async () => {} };
        return { backend: this.around(openBackend, place), apiKey: place.call.apiKey };
      },
    });
    const profile = { ...emptyProfile, url: `http://127.0.0.1/${there.name}`, key: 'pk_unused' };
    const config = { current: null, profiles: { other: profile }, modes: {}, default_mode: null };
    const profileFile = Object.assign(Object.create(host.profileFile), { read: () => config });
    const status = await runCommandLine(['sync', 'other', '--json', ...words], { ...host, profileFile });
    for (const output of Object.values(outputs)) await output.finish();
    const results = written.stdout.split('\n').slice(0, -1);
    return { status, results: results.map((line) => JSON.parse(line)), err: written.stderr };
  }

  /** The directory of the command's files. */
  directoryOf({ name }: SyncedPlace): string {
    return join(this.#directory.path, name);
  }

  async close(): Promise<void> {
    for (const backend of this.#backends) await backend.close();
    await this.#directory.remove();
  }

  #tick = (): number => {
    this.#time += 1;
    return this.#time;
  };
}

/** The backend with some methods of its archive and of its service changed. */
export function changed(
  backend: Backend,
  archive: Partial<Backend['archive']>,
  service: Partial<Backend['service']> = {},
): Backend {
  const bound = <T extends object>(real: T, methods: Partial<T>): T => ({
    ...Object.fromEntries(
      Object.getOwnPropertyNames(Object.getPrototypeOf(real)).map((name) => [
        name,
        (...given: unknown[]) => (real as Record<string, (...all: unknown[]) => unknown>)[name]?.(...given),
      ]),
    ),
    ...(methods as T),
  });
  return { ...backend, archive: bound(backend.archive, archive), service: bound(backend.service, service) };
}

export async function sessionsOf(
  { backend, call }: SyncedPlace,
  deleted: boolean,
): Promise<readonly Session[]> {
  const query = { ...anySession, ...firstCreatedFirst, deleted, limit: 200, cursor: null };
  return (await backend.archive.listSessions(call, query)).data.items;
}

export async function recordOf({ backend, call }: SyncedPlace, session: Session): Promise<SessionRecord> {
  const all: Message[] = [];
  let cursor: string | null = null;
  do {
    const page = { limit: 200, cursor, all: true };
    const { data } = await backend.archive.listMessages(call, session.session_id, page);
    all.push(...data.items);
    cursor = data.next_cursor;
  } while (cursor !== null);
  const hidden_messages = all.filter(isHidden);
  return {
    session,
    messages: all.filter((message) => !isHidden(message)),
    ...(hidden_messages.length > 0 && { hidden_messages }),
  };
}

/** All active sessions with all messages, by their ids. */
export async function recordsOf(place: SyncedPlace): Promise<Readonly<Record<string, SessionRecord>>> {
  const records: [string, SessionRecord][] = [];
  for (const session of await sessionsOf(place, false))
    records.push([session.session_id, await recordOf(place, session)]);
  return Object.fromEntries(records.sort(([one], [other]) => (one < other ? -1 : 1)));
}
