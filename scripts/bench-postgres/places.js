// Keys and projects of the stores that are measured. All keys are of one project, `bench`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment, run } from '../measure.js';
import { storeIn } from './database.js';

export const parley = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));

/** Parley's own files below this directory. */
export function defaultEnvironment(home) {
  return environment(join(home, 'parley'));
}

/** A new key for the store of this environment, which is created if it does not exist. */
export function newKey(env) {
  const words = [parley, 'keys', 'create', '--project', 'bench'];
  return run(words, { env, expect: (text) => text !== '' }).output.trim();
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
  const key = newKey(own);
  return { env: own, key, project: await projectOf(database, schema) };
}
