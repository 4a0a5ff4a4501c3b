// A store that storm tests fill with sessions, inspect, and cut off: the file of a place, or a schema in PostgreSQL.
import type { Place, Variables } from './parley.ts';
import type { PostgresDatabase } from './postgres-server.ts';
import { lookInto } from './raw-database.ts';

export interface StormStore {
  /** The environment of the program. */
  readonly env: Variables;
  /** The SQL prefix of the tables. */
  readonly schema: string;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Runs SQL that both databases understand, while no process of the place runs. */
  change(sql: string): Promise<void>;
  /** Creates sessions in the first project, oldest first, and returns their ids. The caller chooses the time (ms) of the first. */
  fill(sessions: number, firstTime: number): Promise<readonly string[]>;
  /** Stops a process of the program: ends the process, or its connections. */
  stop(child: { kill(signal: 'SIGKILL'): boolean }): Promise<void>;
}

const idsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `ses_${String(index + 1).padStart(26, '0')}`);

export function sqliteStorm(place: Place): StormStore {
  const change = async (sql: string) =>
    lookInto(place.storeFile, (database) => {
      database.pragma('synchronous = OFF');
      database.pragma('cache_size = -200000');
      database.exec(sql);
    });
  return {
    ...{ env: {}, schema: 'main', change },
    rows: async (sql) => place.rows(sql),
    async fill(sessions, firstTime) {
      await change(`
        WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${sessions})
        INSERT INTO sessions (session_id, project, title, created_at, updated_at, pinned, archived)
        SELECT 'ses_' || printf('%026d', number), 1, 'title ' || number, ${firstTime} + number, ${firstTime} + number, 0, 0
        FROM numbers`);
      return idsOf(sessions);
    },
    async stop(child) {
      child.kill('SIGKILL');
    },
  };
}

/** Every other stop ends the connections of the process instead of the process. */
export function postgresStorm(
  { rows }: Pick<PostgresDatabase, 'rows'>,
  url: string,
  schema = 'parley',
): StormStore {
  let stops = 0;
  const change = async (sql: string) => void (await rows(sql));
  return {
    ...{ env: { PARLEY_STORE: url }, schema, change },
    rows: async (sql) => (await rows(sql)) as readonly Readonly<Record<string, unknown>>[],
    async fill(sessions, firstTime) {
      await change(`
        INSERT INTO ${schema}.sessions (session_id, project, title, created_at, updated_at)
        SELECT 'ses_' || lpad(number::text, 26, '0'), (SELECT min(id) FROM ${schema}.projects), 'title ' || number,
          ${firstTime} + number, ${firstTime} + number
        FROM generate_series(1, ${sessions}) AS number`);
      await change(`VACUUM ANALYZE ${schema}.sessions`);
      return idsOf(sessions);
    },
    async stop(child) {
      stops += 1;
      if (stops % 2 === 1) child.kill('SIGKILL');
      else
        await rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
    },
  };
}
