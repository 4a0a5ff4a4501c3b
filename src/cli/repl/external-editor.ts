// Lets the user write a message in $VISUAL or $EDITOR, in a private file that is removed afterwards.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { readSmallBytes } from '../../system/small-file.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { Interruption } from '../interruption.ts';
import type { Environment } from '../terminal/style.ts';
import { Utf8Reader } from '../terminal/utf8-reader.ts';

/** More than the limit of a message, so that a message that is a little too long can be shortened. */
const maxBytes = 8 * 1024 * 1024;

const shell = '/bin/sh';

/**
 * Returns the content of the file when the editor ends. Null if the editor failed without a change. Ctrl-C goes to the editor. Rejects
 * with the `Interruption` that stops the process, because an editor may not notice that its terminal closed. The file is then kept,
 * because the editor may keep a recovery file beside it.
 */
export async function writeInEditor(
  text: string,
  env: Environment,
  signal: AbortSignal,
): Promise<string | null> {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  const directory = temporary(() => mkdtempSync(join(tmpdir(), 'parley-edit-')));
  let isKept = false;
  try {
    const file = join(directory, 'message.md');
    temporary(() => writeFileSync(file, text, { mode: 0o600 }));
    const { status, killer } = await run(editor, file, { env, signal });
    if (status === 127) throw notRun(editor, 'Set VISUAL or EDITOR to an installed editor.');
    // A file that cannot be read, or that a failed editor changed, is kept for the user.
    isKept = existsSync(file);
    const written = textOf(file);
    if (status !== 0 && written !== text) throw editorFailed(file, status, killer);
    isKept = false;
    if (status !== 0) return null;
    // Some editors write CRLF. A typed message has only LF.
    return withoutLastNewlines(text.includes('\r\n') ? written : written.replaceAll('\r\n', '\n'));
  } finally {
    if (!isKept && !isInterrupted(signal)) rmSync(directory, { recursive: true, force: true });
  }
}

function temporary<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw fileFailure(error, tmpdir(), 'written', 'Set TMPDIR to a directory that you may write to.');
  }
}

function notRun(editor: string, hint: string): ParleyError {
  return new ParleyError('USAGE', `The editor ${editor} cannot be run.`, { hint });
}

function textOf(file: string): string {
  try {
    // Opening a pipe would wait for its writer.
    if (!statSync(file).isFile()) {
      throw new ParleyError('CONFIG', `${file} is not a regular file.`, { hint: 'The editor replaced it.' });
    }
    const reader = new Utf8Reader({ name: file, limit: null });
    return reader.push(readSmallBytes(file, maxBytes)) + reader.end();
  } catch (error) {
    throw fileFailure(error, file, 'read', existsSync(file) ? 'The file is kept.' : 'The editor removed it.');
  }
}

function editorFailed(file: string, status: number | null, killer: NodeJS.Signals | null): ParleyError {
  const end = status === null ? `was killed (${killer})` : `ended with status ${status}`;
  return new ParleyError('CONFIG', `The editor ${end}, so its text is not used.`, {
    hint: `The text is kept in ${file}`,
  });
}

function isInterrupted({ reason }: AbortSignal): boolean {
  return reason instanceof Interruption && reason.scope === 'process';
}

/** The command goes through the shell, because the variable may hold options, as in `code --wait`. */
async function run(
  editor: string,
  file: string,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<{ readonly status: number | null; readonly killer: NodeJS.Signals | null }> {
  const { spawn, spawnSync } = await import('node:child_process');
  const stty = (word: string) =>
    spawnSync('stty', [word], { stdio: ['inherit', 'pipe', 'ignore'], env, encoding: 'utf8' });
  // Without a terminal or the program stty, as on Windows, there are no modes to restore.
  const { status, stdout } = stty('-g');
  const modes = status === 0 ? stdout.trim() : null;
  return new Promise((resolve, reject) => {
    const child = spawn(shell, ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env });
    // Windows and small containers have no such shell.
    child.on('error', (error) => {
      reject(notRun(editor, `It is started by ${shell}, which cannot be run (${systemErrorCode(error)}).`));
    });
    const stop = () => isInterrupted(signal) && reject(signal.reason);
    signal.addEventListener('abort', stop);
    child.on('exit', (status, killer) => {
      signal.removeEventListener('abort', stop);
      // An editor that is killed leaves its own modes. Node would take them for those of the shell.
      if (modes !== null) stty(modes);
      resolve({ status, killer });
    });
  });
}
