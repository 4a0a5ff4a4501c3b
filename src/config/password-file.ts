// Reads the password file of PostgreSQL's own clients (PostgreSQL documentation, section 34.16): lines of host:port:database:user:password,
// where `*` matches anything and `\` escapes the next character.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import { systemErrorCode } from '../system/file-errors.ts';

const maxBytes = 1024 * 1024;

export interface PasswordQuery {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** The file of the user on this platform, which `PGPASSFILE` overrides. */
export function defaultPasswordFile(
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): string {
  if (platform === 'win32') return join(env['APPDATA'] ?? '', 'postgresql', 'pgpass.conf');
  return join(env['HOME'] ?? '', '.pgpass');
}

/** Null if there is no such file or no matching line. Throws `CONFIG` for a file that other users may read. */
export function readPasswordFile(path: string, query: PasswordQuery, platform: string): string | null {
  const text = readPrivateText(path, platform);
  if (text === null) return null;
  const { host, port, database, user } = query;
  const target = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const password = fields[4];
    if (password === undefined) continue;
    if (target.every((value, at) => fields[at] === '*' || unescapeField(fields[at] ?? '') === value))
      return unescapeField(password);
  }
  return null;
}

/** The fields of a line. The password is everything after the fourth colon. */
function fieldsOf(line: string): readonly string[] {
  const [, ...fields] =
    /^((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):(.*)$/.exec(line) ?? [];
  return fields;
}

function unescapeField(field: string): string {
  return field.replace(/\\(.)/g, '$1');
}

function readPrivateText(path: string, platform: string): string | null {
  let file: number;
  try {
    // Without the flag, opening a pipe would block until there is a writer.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw wrong(path, `cannot be read (${systemErrorCode(error)})`, 'Check its owner and its permissions.');
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return null;
    // On Windows, the mode says nothing about other users.
    if (platform !== 'win32' && (stat.mode & 0o077) !== 0)
      throw wrong(path, 'is readable by other users', 'Make it private with chmod 600.');
    const bytes = Buffer.alloc(Math.min(stat.size, maxBytes));
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

function wrong(path: string, problem: string, hint: string): ParleyError {
  return new ParleyError('CONFIG', `The password file ${path} ${problem}.`, { hint });
}
