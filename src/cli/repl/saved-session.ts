// A session written into a file, as `sessions messages` prints it. A file that is there already stays as it is.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { fileFailure } from '../../config/private-file.ts';
import { ParleyError } from '../../service/errors.ts';
import { runMessages } from '../commands/sessions/messages.ts';
import { CliContext } from '../context.ts';
import type { Output } from '../terminal/output.ts';
import type { OutputText } from '../terminal/terminal-text.ts';

export async function saveSession(id: string, path: string, context: CliContext): Promise<void> {
  const file = opened(path);
  try {
    let bytes = 0;
    const write = async (text: OutputText) => {
      for (let rest = Buffer.from(String(text)); rest.length > 0; ) {
        const written = writeSync(file, rest);
        rest = rest.subarray(written);
        bytes += written;
      }
    };
    await runMessages({ id, format: 'md' }, writingTo(write, context));
    await context.say(`Wrote ${bytes} bytes to ${path}.`);
  } catch (error) {
    // A part of a session is no session.
    rmSync(path, { force: true });
    throw fileFailure(error, path, 'written', 'Name a file in a directory that you may write to.');
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new ParleyError('USAGE', `The file ${path} is there already.`, {
        hint: 'Nothing was written. Name another.',
      });
    }
    throw fileFailure(error, path, 'written', 'Name a file in a directory that you may write to.');
  }
}

/** The context, but that what a command prints goes elsewhere, exactly as it is. */
function writingTo(write: (text: OutputText) => Promise<void>, context: CliContext): CliContext {
  const output = new Proxy(context.stdout, {
    get: (target, name) => (name === 'write' ? write : Reflect.get(target, name, target)),
  }) as Output;
  const { host } = context;
  const inFile = new CliContext(
    {
      ...host,
      output: (name, options) => (name === 'stdout' ? output : host.output(name, options)),
      openHome: () => context.open(),
    },
    context.options,
  );
  inFile.talkTo(context.target);
  return inFile;
}
