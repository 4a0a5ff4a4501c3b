// SQLite's plan for each statement: it searches an index, and never reads or sorts a whole table, so that a store of a million
// sessions is as fast as a small one. Each statement names its project.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { abandonedStatements } from '../../../src/store/sqlite/abandoned-turns.ts';
import { forkStatements } from '../../../src/store/sqlite/forks.ts';
import { hiddenStatements } from '../../../src/store/sqlite/hidden-messages.ts';
import { idempotencyStatements } from '../../../src/store/sqlite/idempotency.ts';
import { importStatements } from '../../../src/store/sqlite/imports.ts';
import { keyStatements } from '../../../src/store/sqlite/keys.ts';
import { pageStatements } from '../../../src/store/sqlite/messages.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { orderingStatements } from '../../../src/store/sqlite/ordering.ts';
import { purgeStatements } from '../../../src/store/sqlite/purge-rows.ts';
import { partStatements } from '../../../src/store/sqlite/reply-parts.ts';
import { hitStatements } from '../../../src/store/sqlite/search.ts';
import { backlogStatements } from '../../../src/store/sqlite/search-backlog.ts';
import { hitsInSessions, searchStatements } from '../../../src/store/sqlite/search-hits.ts';
import { fewStatements } from '../../../src/store/sqlite/search-in-sessions.ts';
import { indexStatements } from '../../../src/store/sqlite/search-index.ts';
import { waitingStatements } from '../../../src/store/sqlite/search-waiting.ts';
import { listingOf, manyStatements } from '../../../src/store/sqlite/session-pages.ts';
import { bulkStatements, sessionStatements } from '../../../src/store/sqlite/sessions.ts';
import { moveStatements } from '../../../src/store/sqlite/turn-moves.ts';
import { turnStatements } from '../../../src/store/sqlite/turn-rows.ts';
import { usageStatements } from '../../../src/store/sqlite/usage.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory(afterAll);
beforeAll(async () => {
  await (await openSqliteStore(storeOptions(directory))).store.close();
});

function plan(sql: string): string {
  return lookInto(join(directory, 'parley.db'), (database) => {
    const names = [...sql.matchAll(/@(\w+)/g)].map((found) => found[1] as string);
    const statement = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
    const positional = sql.split('?').slice(1);
    const rows =
      positional.length > 0
        ? statement.all(...positional.map(() => 1))
        : statement.all(Object.fromEntries(names.map((name) => [name, 1])));
    return rows.map((row) => (row as { detail: string }).detail).join('\n');
  });
}

const orders = (['updated', 'created'] as const).flatMap((sort) =>
  (['desc', 'asc'] as const).map((order) => ({ sort, order })),
);
const pagesOfSessions = orders.flatMap(({ sort, order }) =>
  (['listed', 'archived', 'active', 'deleted'] as const).flatMap((state) =>
    Object.entries(listingOf(sort, order, state))
      .filter(([part]) => !['tagged', 'ofUser', 'pinned'].includes(part))
      .map(([part, sql]) => ({ name: `${part} of ${state} sessions`, state, sort, order, sql })),
  ),
);

const indexesOf = {
  listed: ['sessions_active'],
  archived: ['sessions_archived'],
  active: ['sessions_active', 'sessions_archived'],
  deleted: ['sessions_deleted'],
} as const;

/** The statements of a subject, with the subject in their names, because two subjects may have statements with the same name. */
function of(subject: string, statements: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(statements).map(([name, sql]) => [`${name} of ${subject}`, sql]));
}

// It names the row of a message that a statement with the project has found.
// `undone` sorts the undone turns of the one session that it finds.
const { moveKeysBack, undone, ...hiddenMessages } = hiddenStatements;
// `remove` deletes all parts of a session.
const { remove: _, ...replyParts } = partStatements;

const ofProject = {
  ...Object.fromEntries(
    pagesOfSessions.map(({ name, sort, order, sql }) => [`${name} by ${sort}, ${order}`, sql]),
  ),
  ...of('sessions', sessionStatements),
  ...of('ordering', orderingStatements),
  ...of('many sessions of a choice', manyStatements),
  ...of('turns', turnStatements),
  ...of('hidden messages', hiddenMessages),
  ...of('abandoned turns', abandonedStatements),
  ...of('reply parts', replyParts),
  ...of('moves', moveStatements),
  ...of('forks', { parent: forkStatements.parent }),
  ...of('pages of messages', pageStatements),
  ...of('hits', hitStatements),
  ...of('imports', importStatements),
  ...of(
    'few sessions',
    Object.fromEntries(Object.entries(fewStatements).map(([by, { many }]) => [`limit by ${by}`, many])),
  ),
};

const numbersOfHits = (['words', 'pieces'] as const).flatMap((index) =>
  Object.entries(searchStatements[index]).map(([order, sql]) => ({
    name: `${index} for ${order} hits`,
    index,
    sql,
  })),
);

// They name the row of the project that a statement with its id has found.
const inProject = { ...ofProject, ...of('many sessions', bulkStatements) };

describe.each(Object.entries({ ...inProject, moveKeysBack, ...of('keys', idempotencyStatements) }))(
  'the statement %s',
  (_, sql) => {
    it('reads no whole table, project or session, and sorts nothing', () => {
      expect(plan(sql)).not.toMatch(/SCAN (?!CONSTANT|\(subquery)|TEMP B-TREE|\((project|session)=\?\)/);
    });
  },
);

it.each(
  Object.entries({ ...inProject, ...of('purge', purgeStatements) }).filter(([, sql]) =>
    /session_id = (@sessionId|part\.value)|ON CONFLICT \(.*session_id/.test(sql),
  ),
)(
  'the statement %s looks a session up by project and id together, so that an id of another project is like an unknown id',
  (_, sql) => {
    if (/^\s*INSERT INTO sessions/.test(sql)) expect(sql).toContain('ON CONFLICT (project, session_id)');
    else expect(plan(sql)).toMatch(/INDEX sessions_by_id \(project=\? AND session_id=\?\)/);
    expect(plan(sql)).not.toMatch(/\(session_id=\?\)/);
  },
);

it('every statement names its project, except those that delete old idempotency keys', () => {
  const { hasOld: _hasOld, forget: _forget, ...others } = idempotencyStatements;
  const searched = [hitsInSessions, ...numbersOfHits.map(({ sql }) => sql)];
  for (const sql of [...Object.values({ ...ofProject, undone, ...others }), ...searched]) {
    expect(sql).toContain('project_id = @projectId');
  }
});

it('an API key is found by its hash through an index', () => {
  expect(plan(keyStatements.find)).toMatch(/^SEARCH api_keys USING INDEX \S+ \(hash=\?\)/);
});

it.each(pagesOfSessions)(
  'a $name by $sort, $order, begins at the end of the last page',
  ({ state, sort, order, sql }) => {
    const search = plan(sql);
    for (const index of indexesOf[state])
      expect(search).toContain(`${index}${sort === 'created' ? '_created' : ''} (project=? AND `);
    // Some versions of SQLite search for the time alone and skip the rows of that one millisecond.
    const [column, onward] = [`${sort}_at`, order === 'desc' ? '<' : '>'];
    expect(
      [`(${column},session_id)${onward}(?,?)`, `${column}${onward}?`].some((at) => search.includes(at)),
    ).toBe(true);
    // The search stops at the end of the filter, except for the newest by creation, because any of those may have been active in its time.
    if (order === 'asc') expect(search).toContain(`${column}<?`);
    else if (sort === 'updated') expect(search).toContain('updated_at>?');
  },
);

it.each(orders)(
  'a page of few sessions by $sort, $order, reads those sessions alone',
  async ({ sort, order }) => {
    for (const state of ['listed', 'archived', 'active', 'deleted'] as const) {
      const { tagged, pinned, ofUser } = listingOf(sort, order, state);
      expect(await plan(tagged)).toContain('COVERING INDEX sessions_by_tag (project=? AND tag=?)');
      expect(await plan(pinned)).toContain('INDEX sessions_pinned (project=? AND pinned=?)');
      expect(await plan(ofUser)).toContain('INDEX sessions_by_user (user_id=? AND project=?)');
      for (const sql of [tagged, ofUser, pinned])
        expect(plan(sql)).toMatch(
          /^(?!.*INDEX sessions_(active|archived|deleted)).*PRIMARY KEY \(rowid=\?\)/s,
        );
    }
  },
);

it.each([
  ['messages', '>'],
  ['history', '<'],
] as const)('begins a page of %s where the last one ended', (name, comparison) => {
  expect(plan(pageStatements[name])).toContain(`(session=? AND position${comparison}?)`);
});

it.each(numbersOfHits)('a search of $name reads the index alone, and sorts nothing', ({ index, sql }) => {
  const steps = plan(sql)
    .split('\n')
    .filter((step) => /SCAN (?!\(subquery)|SEARCH (?!projects)|TEMP B-TREE/.test(step));
  expect(steps).toEqual([expect.stringContaining(`SCAN message_${index} VIRTUAL TABLE INDEX`)]);
});

it.each(Object.entries(fewStatements))(
  'the messages of few sessions by %s are found through indexes, and no text is read',
  (_, { messages }) => {
    expect(messages).toContain('project_id = @projectId');
    expect(plan(messages)).toContain('SEARCH message USING COVERING INDEX');
    expect(plan(messages)).not.toMatch(/SCAN (?!few|\(subquery)|TEMP B-TREE|\(project=\?\)/);
  },
);

it('the messages of hits are read by their numbers', () => {
  const steps = plan(hitsInSessions).split('\n');
  expect(steps.slice(0, 3)).toEqual([
    expect.stringContaining('SCAN hit VIRTUAL TABLE INDEX'),
    'SEARCH message USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
});

it.each(Object.entries(usageStatements))(
  'usage by %s is counted from the index alone, from the given time on',
  (_, sql) => {
    expect(plan(sql)).toContain('SEARCH reply USING COVERING INDEX replies_by_time (created_at>?)');
  },
);

it.each(
  Object.entries({
    ...of('backlog', backlogStatements),
    ...of('index', indexStatements),
    ...of('waiting', waitingStatements),
  }),
)('the statement %s finds waiting messages without reading others', (_, sql) => {
  expect(plan(sql)).not.toMatch(/SCAN (message|sessions)/);
});
