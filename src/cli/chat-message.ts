// The message of a chat: the words, then the files, then stdin, with a blank line between them. Each part is unchanged, byte for byte.
import { existsSync, statSync } from 'node:fs';
import { ParleyError } from '../service/errors.ts';
import { defaultLimits } from '../service/limits.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { fenced, readFileMessage } from './terminal/file-message.ts';
import { readMessage } from './terminal/stdin.ts';

export interface MessageSources {
  /** The single word `-` means stdin; so does a file named `-`. */
  readonly words: readonly string[];
  readonly files: readonly string[];
  /** False for `-n`: stdin is not read. */
  readonly stdin: boolean;
}

/** `made` makes the message of what was given; that is empty if nothing was given. */
export async function composeMessage(
  sources: MessageSources,
  context: CliContext,
  made: (given: string) => string = (given) => given,
): Promise<string> {
  const limit = defaultLimits.messageBytes;
  const { signal } = context;
  const stdinAs = askedStdin(sources);
  await tellFileNames(sources, context);
  const readStdin = () => readMessage(context.reading('a message', '-n skips it'), limit);
  const parts: string[] = stdinAs === 'words' ? [] : [sources.words.join(' ')];
  let fileBytes = 0;
  for (const path of sources.files) {
    const part =
      path === '-' ? fenced('stdin', await readStdin()) : await readFileMessage(path, limit, signal);
    parts.push(part);
    // No more of many files than one message is held.
    fileBytes += Buffer.byteLength(part);
    if (fileBytes > limit) throw tooLong(`at least ${fileBytes}`, limit);
  }
  if (stdinAs === 'words' || (stdinAs === null && sources.stdin && context.stdinIsFed)) {
    parts.push(await readStdin());
  }
  const message = made(parts.filter((part) => part !== '').join('\n\n'));
  if (message !== '' && message.trim() === '') {
    throw new ParleyError('INVALID_REQUEST', 'The message is white space alone.', {
      hint: 'Nothing was sent. Give a message that says something.',
      details: [{ field: 'message', problem: 'is white space alone' }],
    });
  }
  const bytes = Buffer.byteLength(message);
  if (bytes > limit) throw tooLong(`${bytes}`, limit);
  if (message === '') {
    throw new ParleyError('USAGE', 'There is no message to send.', {
      hint: 'Give one, parley chat "Hello", or pipe one in.',
    });
  }
  return message;
}

/** `-f *.md` gives the shell's other files as words. Their names are sent, and not what is in them. */
async function tellFileNames({ words, files }: MessageSources, context: CliContext): Promise<void> {
  if (files.length === 0) return;
  const names = words.filter((word) => existsSync(word) && statSync(word).isFile());
  if (names.length === 0) return;
  const [first = ''] = names;
  const others = names.length > 1 ? ` and ${names.length - 1} more` : '';
  await context.say(
    `${first}${others}: sent as words, not as files. Each file needs its own -f: -f ${quoteForShell(first)}`,
  );
}

function tooLong(bytes: string, limit: number): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `The message has ${bytes} bytes; the limit is ${limit}.`, {
    hint: 'Nothing was sent. Send it in parts.',
  });
}

/** In which place stdin was asked for by `-`; null where it was not. */
function askedStdin({ words, files, stdin }: MessageSources): 'words' | 'file' | null {
  const isWord = words.length === 1 && words[0] === '-';
  const times = files.filter((path) => path === '-').length + Number(isWord);
  if (times === 0) return null;
  if (!stdin) throw new ParleyError('USAGE', '- reads stdin, and -n does not: choose one.');
  if (times > 1) {
    throw new ParleyError('USAGE', '- was given twice, and stdin can be read once.', {
      hint: 'Leave one of the two out.',
    });
  }
  return isWord ? 'words' : 'file';
}
