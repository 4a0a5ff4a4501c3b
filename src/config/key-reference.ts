// Where the key of a model's server is: a variable, a file, a command. What is stored is this reference; the key itself is read when
// it is needed, goes into one header, and is in no message here.
import { readFileSync } from 'node:fs';
import { ParleyError } from '../service/errors.ts';
import { quoteForShell } from './shell-quote.ts';

const commandMs = 30_000;

/** Null for a reference that can be read; of any other nothing is quoted: it may be a key. */
export function checkKeyReference(
  reference: string,
): { readonly problem: string; readonly hint: string } | null {
  const [, kind = '', rest = ''] = /^(env|file|command):([\s\S]*)$/.exec(reference) ?? [];
  if (kind === 'env' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return null;
  if ((kind === 'file' || kind === 'command') && rest.trim() !== '' && !/[\0\r\n]/.test(rest)) return null;
  return {
    problem: 'does not say where the key is',
    hint: 'Give env:NAME, file:PATH or command:LINE; a key itself is never an argument, and is not kept.',
  };
}

/** Rejects with `ENGINE_FAILED`, which names the mode whose key it is. */
export async function readKeyReference(
  reference: string,
  mode: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const missing = (problem: string) => missingKey(mode, problem);
  const [, kind = '', rest = ''] = /^(env|file|command):([\s\S]*)$/.exec(reference) ?? [];
  const key = (await read(kind, rest, env, missing)).trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw missing(
    key === ''
      ? `${place(kind, rest)} is empty`
      : `${place(kind, rest)} holds characters that a key cannot have`,
  );
}

/** How a shell reads the key of a reference, inside of double quotes. */
export function keyInShell(reference: string): string {
  const [, kind = '', rest = ''] = /^(env|file|command):([\s\S]*)$/.exec(reference) ?? [];
  if (kind === 'env') return `$${rest}`;
  if (kind === 'command') return `$(${rest})`;
  return rest.startsWith('~/') ? `$(cat ~/${quoteForShell(rest.slice(2))})` : `$(cat ${quoteForShell(rest)})`;
}

type Missing = (problem: string) => ParleyError;

async function read(
  kind: string,
  rest: string,
  env: Readonly<Record<string, string | undefined>>,
  missing: Missing,
): Promise<string> {
  switch (kind) {
    case 'env':
      if (env[rest] === undefined) throw missing(`the variable ${rest} is not set`);
      return env[rest];
    case 'file':
      try {
        return readFileSync(fromHome(rest, env), 'utf8');
      } catch (error) {
        throw missing(`the file ${rest} cannot be read (${(error as NodeJS.ErrnoException).code})`);
      }
    default:
      return output(rest, env, missing);
  }
}

/** What the command writes to stdout. Neither that nor its stderr is told: a key may be in both. */
async function output(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  missing: Missing,
): Promise<string> {
  const { exec } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const options = { env: { ...env }, timeout: commandMs, maxBuffer: 64 * 1024, encoding: 'utf8' } as const;
    const child = exec(command, options, (error, stdout) => {
      if (error === null) resolve(stdout);
      else if (error.killed) reject(missing(`the command took more than ${commandMs / 1000} s`));
      else reject(missing(`the command failed (exit ${error.code ?? 'by a signal'})`));
    });
    child.stdin?.end();
  });
}

function fromHome(path: string, env: Readonly<Record<string, string | undefined>>): string {
  return path.startsWith('~/') && env['HOME'] ? env['HOME'] + path.slice(1) : path;
}

function place(kind: string, rest: string): string {
  if (kind === 'env') return `the variable ${rest}`;
  return kind === 'file' ? `the file ${rest}` : 'what the command wrote';
}

function missingKey(mode: string, problem: string): ParleyError {
  return new ParleyError('ENGINE_FAILED', `The mode ${mode} has no key: ${problem}.`, {
    hint: `Put it there, or say where it is: parley modes set ${mode} --key env:NAME`,
  });
}
