// Writes a session to a file, in the format of its name extension, or otherwise in the format of `sessions messages`. The file appears
// when it is complete. An existing file is not overwritten.
import { existsSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { AtomicFile } from '../../system/atomic-file.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { messageTexts } from '../commands/sessions/messages.ts';
import type { CliContext } from '../context.ts';
import { exportWriter, formatOfFile } from '../transcripts/export-format.ts';
import { readSession } from '../transcripts/session-reading.ts';

export async function saveSession(id: string, path: string, context: CliContext): Promise<void> {
  if (existsSync(path)) throw fileExists(path);
  let file: AtomicFile;
  try {
    file = new AtomicFile(path, { replaces: false, durable: true });
  } catch (error) {
    throw failure(error, path);
  }
  try {
    let bytes = 0;
    for await (const text of savedTexts(id, path, context)) {
      file.write(text);
      bytes += Buffer.byteLength(text);
    }
    file.keep();
    await context.say(`Wrote ${bytes} bytes to ${path}.`);
  } catch (error) {
    file.discard();
    throw failure(error, path);
  }
}

async function* savedTexts(id: string, path: string, context: CliContext): AsyncGenerator<string> {
  const format = formatOfFile(path) ?? 'md';
  if (format === 'md') return yield* messageTexts({ id, format, all: false }, context);
  const writer = await exportWriter(format, false);
  yield writer.session(await readSession(id, context)) + writer.end();
}

function failure(error: unknown, path: string): unknown {
  if (systemErrorCode(error) === 'EEXIST') return fileExists(path);
  return fileFailure(error, path, 'written', 'Name a file in a directory that you can write to.');
}

function fileExists(path: string): ParleyError {
  return new ParleyError('USAGE', `The file ${path} already exists.`, {
    hint: 'Nothing was written. Name another file.',
  });
}
