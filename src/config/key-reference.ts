// Reads the key of a model's server through a reference to a variable, a file or a command. The configuration stores only the reference. The
// key is read when it is needed, and is sent in one header. No message contains it.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import { quoted } from '../service/quoted.ts';
import { quoteForShell } from '../system/shell-quote.ts';

/** The longest time of a command. */
export const maxCommandMs = 30_000;
/** The time that a stopped command has to end by itself, for example to restore a terminal. */
const graceMs = 1000;
/** The most bytes of a key. */
const maxBytes = 64 * 1024;

/** The kind and the rest of a reference. Both are empty for a text that is not a reference. */
function partsOf(reference: string): { readonly kind: string; readonly rest: string } {
  const [, kind = '', rest = ''] = /^(env|file|command):([\s\S]*)$/.exec(reference) ?? [];
  return { kind, rest };
}

/** Null for a valid reference. The problem of an invalid reference does not quote it, because the text may be a key. */
export function checkKeyReference(
  reference: string,
): { readonly problem: string; readonly hint: string } | null {
  const { kind, rest } = partsOf(reference);
  if (kind === 'env' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return null;
  if ((kind === 'file' || kind === 'command') && rest.trim() !== '' && !/[\0\r\n]/.test(rest)) {
    if (kind === 'command' || isAbsolute(rest) || rest.startsWith('~/')) return null;
    // A relative path would mean another file in each working directory. The path may be quoted: a key would have to begin with `file:`.
    return {
      problem: `names a file by a relative path: ${quoted(rest)}`,
      hint: 'Give its absolute path: file:/PATH, or file:~/PATH.',
    };
  }
  return {
    problem: 'does not say where the key is',
    hint: 'Use env:NAME, file:PATH or command:LINE. The key itself is never an argument, and is never stored.',
  };
}

/** Reads the key. Rejects with `ENGINE_FAILED`, which names the mode. */
export async function readKeyReference(
  reference: string,
  mode: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  commandMs = maxCommandMs,
): Promise<string> {
  const { kind, rest } = partsOf(reference);
  const missing = (problem: string) => missingKey(mode, problem, remedyOf(kind, rest));
  const key = (await read(kind, rest, env, missing, signal, commandMs)).trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw missing(
    key === '' ? `${place(kind, rest)} is empty` : `${place(kind, rest)} contains invalid characters`,
  );
}

/** The value of a reference, without a final newline. `missing` creates the error. It does not receive the value. */
export async function readReference(
  reference: string,
  env: Readonly<Record<string, string | undefined>>,
  missing: MissingKeyError,
  signal: AbortSignal,
): Promise<string> {
  const { kind, rest } = partsOf(reference);
  return (await read(kind, rest, env, missing, signal, maxCommandMs)).replace(/\r?\n$/, '');
}

/** Why the file of a reference cannot be read now. Null if it can be, or if the key comes from elsewhere. */
export function keyFileProblem(
  reference: string,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const { kind, rest } = partsOf(reference);
  if (kind !== 'file') return null;
  try {
    readKeyFile(withHome(rest, env));
    return null;
  } catch (error) {
    return unreadable(rest, error);
  }
}

/** Shell code, for use inside double quotes, that reads the key of a reference. */
export function keyInShell(reference: string): string {
  const { kind, rest } = partsOf(reference);
  if (kind === 'env') return `$${rest}`;
  if (kind === 'command') return `$(${rest})`;
  return rest.startsWith('~/') ? `$(cat ~/${quoteForShell(rest.slice(2))})` : `$(cat ${quoteForShell(rest)})`;
}

type MissingKeyError = (problem: string) => ParleyError;

async function read(
  kind: string,
  rest: string,
  env: Readonly<Record<string, string | undefined>>,
  missing: MissingKeyError,
  signal: AbortSignal,
  commandMs: number,
): Promise<string> {
  switch (kind) {
    case 'env':
      if (env[rest] === undefined) throw missing(`the variable ${rest} is not set`);
      return env[rest];
    case 'file':
      try {
        return readKeyFile(withHome(rest, env));
      } catch (error) {
        throw missing(unreadable(rest, error));
      }
    default:
      return outputOf(rest, env, missing, signal, commandMs);
  }
}

function unreadable(path: string, error: unknown): string {
  const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  return `the file ${path} cannot be read (${reason})`;
}

/** Reads the file without waiting, because a device or a pipe may have no end, or no writer. */
function readKeyFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new Error('a directory');
    if (!stat.isFile()) throw new Error('not a regular file');
    const bytes = Buffer.alloc(maxBytes + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** Returns the stdout of the command. Messages quote neither stdout nor stderr, because both may contain a key. */
async function outputOf(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  missing: MissingKeyError,
  signal: AbortSignal,
  commandMs: number,
): Promise<string> {
  const { exec } = await import('node:child_process');
  const { endTree } = await import('../system/process-tree.ts');
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(commandMs);
    const stop = AbortSignal.any([signal, timeout]);
    // The command runs in `/`, so that it reads no file and starts no program of the current directory by accident.
    const options = { env: { ...env }, cwd: '/', maxBuffer: maxBytes, encoding: 'utf8' } as const;
    const child = exec(command, options, (error, stdout) => {
      if (stop.aborted) return;
      if (error === null) resolve(stdout);
      else if (String(error.code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        reject(missing(`the command wrote more than ${maxBytes} bytes`));
      else reject(missing(`the command failed (exit ${error.code ?? 'by a signal'})`));
    });
    child.stdin?.end();
    const giveUp = async () => {
      await endTree(child, graceMs);
      reject(
        missing(
          signal.aborted ? 'the command was stopped' : `the command took more than ${commandMs / 1000} s`,
        ),
      );
    };
    if (stop.aborted) void giveUp();
    else stop.addEventListener('abort', giveUp);
    // A program that the command has left in the background may keep its output open.
    const leaveOutput = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    child.once('exit', () => setTimeout(leaveOutput, graceMs).unref());
  });
}

function withHome(path: string, env: Readonly<Record<string, string | undefined>>): string {
  if (!path.startsWith('~/')) return path;
  if (!env['HOME']) throw new Error('HOME is not set');
  return env['HOME'] + path.slice(1);
}

function place(kind: string, rest: string): string {
  if (kind === 'env') return `the variable ${rest}`;
  return kind === 'file' ? `the file ${rest}` : 'the output of the command';
}

function remedyOf(kind: string, rest: string): string {
  if (kind === 'env') return `Set ${rest}`;
  return kind === 'file' ? `Put the key into ${rest}` : 'Check that the command writes the key to stdout';
}

function missingKey(mode: string, problem: string, remedy: string): ParleyError {
  return new ParleyError('ENGINE_FAILED', `The mode ${mode} has no key: ${problem}.`, {
    hint: `${remedy}.`,
    remedy: { kind: 'move_key', mode },
  });
}
