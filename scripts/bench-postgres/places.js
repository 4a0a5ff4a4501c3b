// The stores that are measured, each with a key of its project `bench`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from '../measure.js';
import { createKey } from '../served-place.js';
import { storeIn } from './database.js';

export const parley = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));

/** Parley's own files below this directory. */
export function defaultEnvironment(home) {
  return environment(join(home, 'parley'));
}

/** The number of the project in a schema. */
export async function projectOf({ rows }, schema) {
  const [{ id }] = await rows(`SELECT id FROM ${schema}.projects WHERE name = 'bench'`);
  return id;
}

/** The environment of a store in an empty schema, and a key for it. */
export async function newStore(database, schema, env) {
  await database.rows(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  const own = { ...env, PARLEY_STORE: storeIn(database, schema) };
  const key = createKey(own);
  return { env: own, key, project: await projectOf(database, schema) };
}
