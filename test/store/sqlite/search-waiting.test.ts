// The messages that wait for the search indexes: a search finds those of its project as if they were indexed, and reads no others.
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SearchPage } from '../../../src/service/session-archive.ts';
import type { SessionStore, Turn } from '../../../src/store/session-store.ts';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { indexStep } from '../../../src/store/sqlite/search-index.ts';
import { driver } from '../../support/driver.ts';
import { fillIndexes } from '../../support/filled-indexes.ts';
import { lookInto } from '../../support/raw-database.ts';
import { runs } from '../../support/runs.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import {
  newProject,
  once,
  search,
  searchFilter,
  startOfTime,
  turnReply,
  turnStart,
} from '../store-samples.ts';

const never = new AbortController().signal;

// Some of them are characters whose role in words differs between Unicode, SQLite and JavaScript.
const words = fc.constantFrom(
  ...[
    'fox',
    'Fox',
    'FOXES',
    'Größe',
    'grösse',
    'résumé',
    'ΟΔΟΣ',
    'οδοσ',
    'İstanbul',
    'हिन्दी',
    'ह',
    'ﬁx',
    'a\u0000b',
    'foo_bar',
  ],
  ...['東京タワー', '東', '京都', 'ｶﾞ', 'ไทย', '서울 x', 'Kelvin', 'kelvin'],
);
const text = fc.array(words, { minLength: 1, maxLength: 8 }).map((chosen) => chosen.join(' '));
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('say' as const), text, session: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), text, session: fc.nat(2) }) },
  fc.record({
    kind: fc.constantFrom('delete' as const, 'restore' as const, 'index' as const),
    text,
    session: fc.nat(2),
  }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
const queries = [
  'fox',
  'fo*',
  '"fox größe"',
  'grosse',
  'resum*',
  'οδος',
  'οδοσ',
  'istanbul',
  'ह',
  'हिन्दी',
  'fix',
  'b',
];
const pieces = ['東京', '京', 'タワー fox', 'ไท', '서울', 'ガ'];

/** Two projects in one store. All ids and times follow from the operations alone. */
class Place {
  readonly store: SessionStore;
  readonly #projects: readonly string[];
  readonly #directory: string;
  readonly #cut = new Map<string, { readonly project: string; readonly turn: Turn; readonly key: string }>();
  #count = 0;

  private constructor(store: SessionStore, projects: readonly string[], directory: string) {
    this.store = store;
    this.#projects = projects;
    this.#directory = directory;
  }

  static async make(): Promise<Place> {
    const directory = temporaryDirectory();
    const { store } = await openSqliteStore(storeOptions(directory));
    return new Place(store, [await newProject(store), await newProject(store)], directory);
  }

  async apply(operation: Operation): Promise<void> {
    this.#count += 1;
    const at = this.#count;
    const project = this.#projects[operation.session % 2] as string;
    const session_id = `ses_${operation.session}`;
    const now = startOfTime + at;
    if (operation.kind === 'index') return;
    if (operation.kind === 'delete') return void (await this.store.deleteSession(project, session_id, now));
    if (operation.kind === 'restore')
      return void (await this.store.restoreSession(project, session_id, null));
    const cut = operation.kind === 'replace' ? this.#cut.get(session_id) : undefined;
    const key = cut?.key ?? `key ${at}`;
    const isThere = (await this.store.findSession(project, session_id)) !== null;
    const newSession = { session_id, title: 'title' };
    if (!isThere && (await this.store.holdsAny(project, [session_id]))) return;
    const content = cut?.turn.content ?? operation.text;
    const ids = { message_id: `msg_${at}`, closing_message_id: `close_${at}` };
    const start = {
      ...ids,
      content,
      now,
      idempotencyKey: once(key),
      newSession,
      session_id: isThere ? session_id : null,
    };
    const begun = await this.store.beginTurn(project, turnStart(start));
    if (begun.kind !== 'begun') return;
    const reply = {
      message_id: `rep_${at}`,
      content: `${operation.text} again`,
      finish_reason: 'interrupted',
    } as const;
    await this.store.endTurn(project, begun.turn, turnReply({ ...reply, now }));
    this.#cut.set(session_id, { project, turn: begun.turn, key });
  }

  index(): void {
    fillIndexes(this.#directory);
  }

  async pages(): Promise<readonly SearchPage[]> {
    const pages: SearchPage[] = [];
    for (const project of this.#projects)
      for (const query of [...queries, ...pieces])
        pages.push(await this.store.searchSessions(project, searchFilter(query, { limit: 1 }), never));
    return pages;
  }
}

it('the same operations give equal pages whether the indexes are filled at every step, at some steps, or never', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 14 }), async (operations) => {
      const [never, sometimes, always] = [await Place.make(), await Place.make(), await Place.make()];
      for (const step of operations) {
        for (const place of [never, sometimes, always]) await place.apply(step);
        if (step.kind === 'index') sometimes.index();
        always.index();
      }
      const pages = await always.pages();
      expect(await sometimes.pages()).toEqual(pages);
      expect(await never.pages()).toEqual(pages);
      for (const { store } of [never, sometimes, always]) await store.close();
    }),
    { numRuns: runs(2, 100) },
  );
});

function waitingBy(directory: string): Readonly<Record<number, number>> {
  return lookInto(join(directory, 'parley.db'), (database) => {
    const rows = database
      .prepare('SELECT project, count(*) FROM search_waiting GROUP BY project')
      .raw()
      .all();
    return Object.fromEntries(rows as [number, number][]);
  });
}

it('a search indexes no message of another project, and its own only if very many wait', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const projects = [await newProject(store), await newProject(store)];
  const [large, small] = projects as [string, string];
  for (const project of projects) await store.beginTurn(project, turnStart({ content: 'a fox' }));
  lookInto(join(directory, 'parley.db'), (database) =>
    database.exec(`
      WITH numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500)
      INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
        SELECT 1, n, 'msg_' || n, 'user', 'echo', 0, 'a fox' FROM numbers`),
  );
  expect(waitingBy(directory)).toEqual({ 1: 1501, 2: 1 });
  expect((await search(store, small, 'fox')).items).toHaveLength(1);
  expect(waitingBy(directory)).toEqual({ 1: 1501, 2: 1 });
  expect((await search(store, large, 'fox')).items).toHaveLength(1);
  expect(waitingBy(directory)).toEqual({ 2: 1 });
});

it('between searches the projects are indexed in turns', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  const { store } = await openTestStore(storeOptions(directory));
  const content = 'mountain '.repeat(4500);
  for (const count of [3, 1, 2]) {
    const project = await newProject(store);
    for (let turn = 0; turn < count; turn += 1) await store.beginTurn(project, turnStart({ content }));
  }
  const connection = Connection.open(driver, path);
  const served: number[] = [];
  for (let after = 0; ; ) {
    const indexed = indexStep(connection, { after });
    if (indexed === null) break;
    after = indexed.project;
    served.push(after);
  }
  connection.close();
  expect(served).toEqual([1, 2, 3, 1, 3, 1]);
});
