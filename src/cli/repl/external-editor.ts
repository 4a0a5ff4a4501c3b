// Lets the user write a message in $VISUAL or $EDITOR, in a private file that is removed afterwards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { readSmallFile } from '../../system/small-file.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { Interruption } from '../interruption.ts';

/** More than the limit of a message, so that a message that is a little too long can be shortened. */
const maxBytes = 8 * 1024 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the content of the file when the editor ends. Null if the editor failed, because its text is then not used. Ctrl-C goes to the
 * editor. Rejects with the `Interruption` that stops the process, because an editor may not notice that its terminal closed. The file is
 * then kept, because the editor may keep a recovery file beside it.
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
    // A file that cannot be read is kept for the user.
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
    return readSmallFile(file, maxBytes);
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
