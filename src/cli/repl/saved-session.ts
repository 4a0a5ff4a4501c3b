// Writes a session into a file, in the form of `sessions messages`. The file appears when it is whole. An existing file is left as it
// is.
import { existsSync } from 'node:fs';
import { fileFailure } from '../../config/file-failure.ts';
import { ParleyError } from '../../service/errors.ts';
import { AtomicFile } from '../../system/atomic-file.ts';
import { runMessages } from '../commands/sessions/messages.ts';
import { CliContext } from '../context.ts';
import type { Output } from '../terminal/output.ts';
import type { OutputText } from '../terminal/terminal-text.ts';

export async function saveSession(id: string, path: string, context: CliContext): Promise<void> {
  if (existsSync(path)) throw isThere(path);
  let file: AtomicFile;
  try {
    file = new AtomicFile(path, { replaces: false, durable: true });
  } catch (error) {
    throw failure(error, path);
  }
  try {
    let bytes = 0;
    const write = async (text: OutputText) => {
      file.write(String(text));
      bytes += Buffer.byteLength(String(text));
    };
    await runMessages({ id, format: 'md' }, writingTo(write, context));
    file.keep();
    await context.say(`Wrote ${bytes} bytes to ${path}.`);
  } catch (error) {
    file.discard();
    throw failure(error, path);
  }
}

function failure(error: unknown, path: string): unknown {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return isThere(path);
  return fileFailure(error, path, 'written', 'Name a file in a directory that you may write to.');
}

function isThere(path: string): ParleyError {
  return new ParleyError('USAGE', `The file ${path} is there already.`, {
    hint: 'Nothing was written. Name another.',
  });
}

/** The same context, with stdout replaced by a stream that writes exact bytes into the file. */
function writingTo(write: (text: OutputText) => Promise<void>, context: CliContext): CliContext {
  const output = new Proxy(context.stdout, {
    get: (target, name) => (name === 'write' ? write : Reflect.get(target, name, target)),
  }) as Output;
  const { host } = context;
  const inFile = new CliContext(
    {
      ...host,
      output: (name, options) => (name === 'stdout' ? output : host.output(name, options)),
      openBackend: () => context.open(),
    },
    context.options,
  );
  inFile.talkTo(context.target);
  return inFile;
}
