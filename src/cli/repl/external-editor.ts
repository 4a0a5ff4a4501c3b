// A message written in an editor of the person's own, $VISUAL or $EDITOR, over a private file that is gone afterwards.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { Interruption } from '../interruption.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the file holds in the end; null if the editor said with its status that it is not to be used. Rejects with the
 * `Interruption` that stops the process: an editor need not notice that its terminal closed. The file then stays, for what the editor
 * keeps beside it. Ctrl-C is the editor's.
 */
export async function writeInEditor(
  text: string,
  env: Environment,
  signal: AbortSignal,
): Promise<string | null> {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  const directory = mkdtempSync(join(tmpdir(), 'parley-edit-'));
  try {
    const file = join(directory, 'message.md');
    writeFileSync(file, text, { mode: 0o600 });
    const status = await run(editor, file, { env, signal });
    if (status === 127) {
      throw new ParleyError('USAGE', `The editor ${editor} cannot be run.`, {
        hint: 'Set VISUAL or EDITOR to one that is there.',
      });
    }
    return status === 0 ? withoutLastNewlines(readFileSync(file, 'utf8')) : null;
  } finally {
    if (!isInterrupted(signal)) rmSync(directory, { recursive: true, force: true });
  }
}

function isInterrupted({ reason }: AbortSignal): boolean {
  return reason instanceof Interruption && reason.scope === 'process';
}

/** Through the shell: the variable may hold options, as in `code --wait`. */
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
