// Opens the store in PostgreSQL at an address. The password and the certificates are read when the store is opened.
import { readReference } from '../config/key-reference.ts';
import type { ModePlace } from '../config/mode-place.ts';
import { defaultPasswordFile, readPasswordFile } from '../config/password-file.ts';
import type { StoreAddress } from '../config/store-address.ts';
import { isLocalName } from '../http/loopback.ts';
import { storeRules } from '../local/local-store-rules.ts';
import { type Say, withSlowStoreNotice } from '../local/slow-store-notice.ts';
import { ParleyError } from '../service/errors.ts';
import type { ConnectionConfig } from '../store/postgres/connect.ts';
import { openPostgresModes, openPostgresRows, openPostgresStore } from '../store/postgres/open.ts';
import type { StoreRows } from '../store/store-rows.ts';
import { readAtMost } from '../system/bounded-file.ts';
import type { ChosenStore } from './chosen-store.ts';
import type { Dependencies } from './dependencies.ts';
import { modesInStore, modesOfStore } from './modes-in-store.ts';
import { systemRandomness } from './system-randomness.ts';

type PostgresDependencies = Pick<
  Dependencies,
  'env' | 'platform' | 'now' | 'random' | 'signal' | 'stopSignal'
>;

interface PostgresOpening {
  readonly refusesOlder: boolean;
  readonly isServer: boolean;
  /** Tells the user that the database does not answer yet; null for nobody. */
  readonly say: Say | null;
}

export async function openPostgres(
  address: StoreAddress,
  dependencies: PostgresDependencies,
  { refusesOlder, isServer, say }: PostgresOpening,
): Promise<ChosenStore> {
  const { now } = dependencies;
  const place = await placeOf(address, dependencies);
  const owner = `srv_${Buffer.from((await systemRandomness())(16)).toString('base64url')}`;
  const opening = openPostgresStore({
    ...place,
    now,
    refusesOlder,
    rules: storeRules,
    ...(isServer ? { server: { owner } } : { stopSignal: dependencies.stopSignal }),
  });
  const opened = await withSlowStoreNotice(opening, `Waiting for the database ${address.name}.`, say);
  return {
    ...opened,
    // Another server may run on another machine, so only its lease shows whether it has ended.
    owner: { id: owner, isGone: () => false },
    shareReads: () => {},
    modes: modesOfStore(opened.modes, address.name),
  };
}

/** Opens the store for a copy of all its rows. */
export async function openRowsOfPostgres(
  address: StoreAddress,
  dependencies: PostgresDependencies,
  refusesOlder: boolean,
): Promise<StoreRows> {
  const { stopSignal } = dependencies;
  return openPostgresRows({ ...(await placeOf(address, dependencies)), refusesOlder, stopSignal });
}

/** Opens the modes in the store, to change them. */
export async function openModesOfPostgres(
  address: StoreAddress,
  dependencies: PostgresDependencies,
): Promise<ModePlace> {
  const { stopSignal } = dependencies;
  const opened = await openPostgresModes({ ...(await placeOf(address, dependencies)), stopSignal });
  return modesInStore(opened, address.name);
}

async function placeOf(address: StoreAddress, dependencies: PostgresDependencies) {
  const { name, schema, connections, patience, prepares } = address;
  return {
    hosts: await connectionConfigs(address, dependencies),
    name,
    schema,
    random: dependencies.random,
    connections,
    patienceMs: patience * 1000,
    prepare: prepares,
  };
}

async function connectionConfigs(
  address: StoreAddress,
  { env, platform, signal }: PostgresDependencies,
): Promise<readonly ConnectionConfig[]> {
  const { hosts, user, database, encryption, authorityFile, password } = address;
  const authorities =
    authorityFile === null ? null : await readAuthorities(address.name, authorityFile, signal);
  const isChecked = encryption === 'authority' || encryption === 'full';
  const ssl = encryption !== 'none' && {
    rejectUnauthorized: isChecked,
    ...(authorities !== null && { ca: authorities }),
    // With `authority` the certificate is checked against the authorities, but its host name is not.
    ...(encryption === 'authority' && { checkServerIdentity: () => undefined }),
  };
  const fixedPassword = password.kind === 'file' ? null : await givenPassword(address, password, env);
  return hosts.map(({ host, port }) => {
    const path = password.kind === 'file' ? (password.path ?? defaultPasswordFile(env, platform)) : '';
    const found = fixedPassword ?? readPasswordFile(path, { host, port, database, user }, platform) ?? '';
    // The names of this machine are never looked up (http/loopback.ts).
    return { host: isLocalName(host) ? '127.0.0.1' : host, port, user, database, ssl, password: found };
  });
}

async function givenPassword(
  { name }: StoreAddress,
  password: { readonly kind: 'reference' | 'text'; readonly value: string },
  env: Dependencies['env'],
): Promise<string> {
  if (password.kind === 'text') return password.value;
  const missing = (problem: string) =>
    new ParleyError('CONFIG', `There is no password for the store ${name}: ${problem}.`);
  return readReference(password.value, env, missing, AbortSignal.timeout(60_000));
}

/** The limit for the file of certificates. All public authorities together need less. */
const maxBytes = 16 * 1024 * 1024;

async function readAuthorities(name: string, path: string, signal: AbortSignal): Promise<string> {
  try {
    return Buffer.from(await readAtMost(path, maxBytes, signal)).toString();
  } catch (error) {
    signal.throwIfAborted();
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ParleyError(
      'CONFIG',
      `The certificates of the store ${name} cannot be read: ${path} (${reason}).`,
    );
  }
}
