// Parses the address of a store in PostgreSQL: `postgres://user@host:port/database?name=value`. The variables of PostgreSQL's own clients
// supply missing parts. The functions are pure. Messages name the source of the address and never quote it, because it may contain a
// password.
import { isLoopback } from '../http/loopback.ts';
import { ParleyError } from '../service/errors.ts';
import type { Remedy } from '../service/remedy.ts';
import { checkKeyReference } from './key-reference.ts';

/** PostgreSQL documentation, section 34.15. An empty variable counts as unset. */
export interface PostgresVariables {
  readonly PGHOST?: string | undefined;
  readonly PGPORT?: string | undefined;
  readonly PGUSER?: string | undefined;
  readonly PGDATABASE?: string | undefined;
  readonly PGSSLMODE?: string | undefined;
  readonly PGSSLROOTCERT?: string | undefined;
  readonly PGPASSFILE?: string | undefined;
  readonly PGPASSWORD?: string | undefined;
  readonly USER?: string | undefined;
}

export interface StoreHost {
  /** A name, an address, or the directory of a socket, which begins with `/`. */
  readonly host: string;
  readonly port: number;
}

/**
 * How the connection is encrypted. `none`: not at all. `encrypted`: with any certificate. `authority`: the certificate must come from a
 * known authority. `full`: the certificate must also name this host.
 */
export type StoreEncryption = 'none' | 'encrypted' | 'authority' | 'full';

export interface StoreAddress {
  /** At least one. They are tried in this order until one of them accepts writes. */
  readonly hosts: readonly StoreHost[];
  readonly user: string;
  readonly database: string;
  /** The schema of the tables: letters, digits and `_`. */
  readonly schema: string;
  /** A reference (env:, file:, command:), the password itself, or null for the password file. */
  readonly password:
    | { readonly kind: 'reference' | 'text'; readonly value: string }
    | { readonly kind: 'file'; readonly path: string | null };
  readonly encryption: StoreEncryption;
  /** A file of certificates; null for the authorities that the system trusts. */
  readonly authorityFile: string | null;
  readonly connections: number;
  /** How long (s) a call is repeated while the database does not respond. */
  readonly patience: number;
  /** True if statements are prepared; not every pooler supports that. */
  readonly prepares: boolean;
  /** A stable text that identifies the store, without user and password. */
  readonly name: string;
}

export interface AddressOptions {
  /** The source of the address, in words for people. */
  readonly source: string;
  readonly env: PostgresVariables;
  /** Allows a connection to another machine that is unencrypted, or whose certificate is not checked. */
  readonly isInsecureAllowed: boolean;
  /** False if other users of this machine can read the address, for example in the arguments of a process. */
  readonly mayHoldPassword: boolean;
}

const defaultPort = 5432;
const defaultConnections = 8;
const defaultPatience = 15;
const knownParameters = [
  'host',
  'port',
  'user',
  'dbname',
  'password',
  'sslmode',
  'sslrootcert',
  'schema',
  'connections',
  'patience',
  'prepare',
  'target_session_attrs',
];

const encryptionOf: Readonly<Record<string, StoreEncryption>> = {
  disable: 'none',
  allow: 'none',
  prefer: 'none',
  require: 'encrypted',
  'verify-ca': 'authority',
  'verify-full': 'full',
};

export function readStoreAddress(text: string, options: AddressOptions): StoreAddress {
  const { source, env } = options;
  const wrong = (problem: string, hint = defaultHint, remedy: Remedy | null = null) =>
    new ParleyError('CONFIG', `The store of ${source} ${problem}.`, { hint, remedy });
  const [, authority, path, query] =
    /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(text) ?? [];
  if (authority === undefined || /[\p{Cc}\p{Z}]/u.test(text)) throw wrong('is not an address of PostgreSQL');
  const parameters = readParameters(path ?? '', query ?? '', wrong);
  const at = authority.lastIndexOf('@');
  const [userInAddress = '', ...passwordParts] = at < 0 ? [] : authority.slice(0, at).split(':');
  const passwordInAddress = decode(passwordParts.join(':'), wrong);
  if (passwordInAddress !== '' && !options.mayHoldPassword) {
    throw wrong(
      'contains a password, which every user of this machine can see in the list of processes',
      'Remove it. Set PGPASSWORD, use the password file, or add ?password=env:NAME, file:/PATH or command:LINE.',
    );
  }
  const user = decode(userInAddress, wrong) || (parameters.get('user') ?? '') || env.PGUSER || env.USER || '';
  if (user === '') throw wrong('has no user', 'Write postgres://USER@HOST/DATABASE, or set PGUSER.');
  const hosts = readHosts(authority.slice(at + 1), parameters, env, wrong);
  const database = decode(path ?? '', wrong) || (parameters.get('dbname') ?? '') || env.PGDATABASE || user;
  const schema = parameters.get('schema') ?? 'parley';
  if (!/^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw wrong(
      'has a schema name that is not 1 to 63 lowercase letters, digits and _, or begins with a digit or with pg_',
    );
  const number = (name: string, defaultValue: number, maximum: number) =>
    readNumber(name, parameters.get(name) ?? String(defaultValue), maximum, wrong);
  const prepare = parameters.get('prepare') ?? 'yes';
  if (prepare !== 'yes' && prepare !== 'no')
    throw wrong('has a parameter prepare that is neither yes nor no');
  const encryption = readEncryption(hosts, parameters.get('sslmode') ?? env.PGSSLMODE ?? '', options, wrong);
  const place = hosts.map(({ host, port }) => (host.startsWith('/') ? host : `${host}:${port}`)).join(',');
  return {
    hosts,
    user,
    database,
    schema,
    encryption,
    password: readPassword(parameters.get('password'), passwordInAddress, env, wrong),
    authorityFile: parameters.get('sslrootcert') || env.PGSSLROOTCERT || null,
    connections: number('connections', defaultConnections, 100),
    patience: number('patience', defaultPatience, 3600),
    prepares: prepare === 'yes',
    name: `postgres://${place}/${database}${schema === 'parley' ? '' : `?schema=${schema}`}`,
  };
}

const defaultHint = 'An address looks like postgres://USER@HOST/DATABASE';

type AddressError = (problem: string, hint?: string, remedy?: Remedy | null) => ParleyError;

function readParameters(path: string, query: string, wrong: AddressError): ReadonlyMap<string, string> {
  const parameters = new Map(new URLSearchParams(query));
  const unknown = [...parameters.keys()].find((name) => !knownParameters.includes(name));
  // The text before the @ is a part of the password, which must not appear in a message or in the name of the store.
  if (path.includes('@') || (unknown !== undefined && query.includes('@')))
    throw wrong(
      'has an @ after a slash or a question mark',
      'In user names, passwords and database names, write %2F for /, %3F for ?, %23 for # and %40 for @.',
    );
  if (unknown !== undefined) throw wrong(`has the unknown parameter ${JSON.stringify(unknown.slice(0, 80))}`);
  return parameters;
}

function readNumber(name: string, value: string, maximum: number, wrong: AddressError): number {
  if (/^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= maximum) return Number(value);
  throw wrong(`has a parameter ${name} that is not a whole number from 1 to ${maximum}`);
}

function readHosts(
  text: string,
  parameters: ReadonlyMap<string, string>,
  env: PostgresVariables,
  wrong: AddressError,
): readonly StoreHost[] {
  const names = text || parameters.get('host') || env.PGHOST || 'localhost';
  const ports = (parameters.get('port') || env.PGPORT || String(defaultPort)).split(',');
  return names.split(',').map((name, index) => {
    const [, host = '', port] = /^(\[[^\]]*\]|[^:]*|\/.*)(?::(\d+))?$/.exec(decode(name, wrong)) ?? [];
    const number = Number(port ?? ports[index] ?? ports[0]);
    if (host === '' || !(number >= 1 && number <= 65_535))
      throw wrong('has a host or a port that cannot be read');
    return { host, port: number };
  });
}

function readEncryption(
  hosts: readonly StoreHost[],
  mode: string,
  { isInsecureAllowed }: AddressOptions,
  wrong: AddressError,
): StoreEncryption {
  const remote = hosts.find(({ host }) => !host.startsWith('/') && !isLoopback(host));
  const defaultMode = remote === undefined ? 'disable' : 'verify-full';
  const encryption = new Map(Object.entries(encryptionOf)).get(mode || defaultMode);
  if (encryption === undefined)
    throw wrong('has an unknown sslmode', `Use one of: ${Object.keys(encryptionOf).join(', ')}.`);
  if (remote === undefined || encryption === 'full' || isInsecureAllowed) return encryption;
  throw wrong(`would not verify the identity of ${remote.host} (sslmode ${mode})`, '', {
    kind: 'allow_insecure_store',
  });
}

function readPassword(
  reference: string | undefined,
  inAddress: string,
  env: PostgresVariables,
  wrong: AddressError,
): StoreAddress['password'] {
  if (reference !== undefined) {
    const refused = checkKeyReference(reference);
    if (refused !== null)
      throw wrong('has a parameter password that does not say where the password is', refused.hint);
    return { kind: 'reference', value: reference };
  }
  if (inAddress !== '') return { kind: 'text', value: inAddress };
  if (env.PGPASSWORD) return { kind: 'text', value: env.PGPASSWORD };
  return { kind: 'file', path: env.PGPASSFILE || null };
}

function decode(text: string, wrong: AddressError): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('contains a % that does not begin an encoded character');
  }
}
