// A SQLite store of an earlier schema with one session, which is written as by a Parley of that schema, because this version writes newer
// columns.
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { schema } from '../../src/store/sqlite/schema.ts';
import { newId } from '../store/store-samples.ts';
import { lookInto } from './raw-database.ts';
import { storeOptions } from './store-options.ts';

export interface OlderStore {
  readonly path: string;
  readonly project: string;
  readonly session: string;
}

/** Adds a project as every schema has it, and returns its id. */
export function addProject(path: string): string {
  const project = newId('prj');
  lookInto(path, (database) => {
    database
      .prepare('INSERT INTO projects (project_id, name, created_at) VALUES (?, ?, 0)')
      .run(project, project);
  });
  return project;
}

export async function olderStore(directory: string, version: number): Promise<OlderStore> {
  const path = join(directory, 'parley.db');
  const older = { ...storeOptions(directory), migrations: schema.slice(0, version) };
  const { store } = await openSqliteStore(older);
  await store.close();
  const project = addProject(path);
  const session = 'ses_old';
  lookInto(path, (database) => {
    database
      .prepare(
        `INSERT INTO sessions (session_id, project, created_at, updated_at)
         VALUES (?, (SELECT id FROM projects WHERE project_id = ?), 0, 0)`,
      )
      .run(session, project);
  });
  return { path, project, session };
}
