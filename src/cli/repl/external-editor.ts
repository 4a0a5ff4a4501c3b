// Lets a person write a message in $VISUAL or $EDITOR, in a private file that is removed afterwards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { readSmallFile } from '../../system/small-file.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { Interruption } from '../interruption.ts';

/** More than a message, so that a message that is a little too long comes back to be shortened. */
const mostBytes = 8 * 1024 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns what the file holds at the end. Null if the editor ended with a failing status, so that its text is not used. Rejects with
 * the `Interruption` that stops the process, because an editor may not notice that its terminal closed. The file then stays for what
 * the editor keeps beside it. Ctrl-C goes to the editor.
 */
export async function writeInEditor(
  text: string,
  env: Environment,
  signal: AbortSignal,
): Promise<string | null> {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  const directory = mkdtempSync(join(tmpdir(), 'parley-edit-'));
  let isKept = false;
  try {
    const file = join(directory, 'message.md');
    writeFileSync(file, text, { mode: 0o600 });
    const status = await run(editor, file, { env, signal });
    if (status === 127) {
      throw new ParleyError('USAGE', `The editor ${editor} cannot be run.`, {
        hint: 'Set VISUAL or EDITOR to an installed editor.',
      });
    }
    if (status !== 0) return null;
    // A text that cannot be read stays for its writer.
    isKept = true;
    const written = withoutLastNewlines(textOf(file));
    isKept = false;
    return written;
  } finally {
    if (!isKept && !isInterrupted(signal)) rmSync(directory, { recursive: true, force: true });
  }
}

function textOf(file: string): string {
  try {
    return readSmallFile(file, mostBytes);
  } catch (error) {
    throw fileFailure(error, file, 'read', 'The file is kept.');
  }
}

function isInterrupted({ reason }: AbortSignal): boolean {
  return reason instanceof Interruption && reason.scope === 'process';
}

/** The command goes through the shell, because the variable may hold options, as in `code --wait`. */
async function run(
  editor: string,
  file: string,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<number | null> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env });
    child.on('error', reject);
    signal.addEventListener('abort', () => isInterrupted(signal) && reject(signal.reason));
    child.on('exit', (status) => resolve(status));
  });
}
