// The message of a chat: the words, then the files, then stdin, with a blank line between them. Each part is unchanged, byte for byte.
import { existsSync, statSync } from 'node:fs';
import { ParleyError } from '../service/errors.ts';
import { defaultLimits } from '../service/limits.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { fenceText, readFileMessage } from './terminal/file-message.ts';
import { readMessage } from './terminal/stdin.ts';

export interface MessageSources {
  /** The single word `-` means stdin; so does a file named `-`. */
  readonly words: readonly string[];
  readonly file?: readonly string[];
  /** False with `-n`. */
  readonly stdin: boolean;
}

/** `build` turns the input into the message. The input is empty if there is none. */
export async function composeMessage(
  sources: MessageSources,
  context: CliContext,
  build: (input: string) => string = (input) => input,
): Promise<string> {
  const limit = defaultLimits.messageBytes;
  const stdinPlace = stdinPlaceOf(sources);
  await warnAboutFileNames(sources, context);
  const readStdin = () => readMessage(context.reading('a message', '-n skips it'), limit);
  const parts: string[] = stdinPlace === 'words' ? [] : [sources.words.join(' ')];
  let fileBytes = 0;
  for (const path of sources.file ?? []) {
    const part =
      path === '-'
        ? fenceText('stdin', await readStdin())
        : await readFileMessage(path, limit, context.inputWait);
    parts.push(part);
    // Stops here, so that memory holds no more than about one message.
    fileBytes += Buffer.byteLength(part);
    if (fileBytes > limit) throw tooLong(`at least ${fileBytes}`, limit);
  }
  if (stdinPlace === 'words' || (stdinPlace === null && sources.stdin && context.stdinIsFed)) {
    parts.push(await readStdin());
  }
  const message = build(parts.filter((part) => part !== '').join('\n\n'));
  if (message !== '' && message.trim() === '') {
    throw new ParleyError('INVALID_REQUEST', 'The message contains only whitespace.', {
      hint: 'Nothing was sent. Pass a message with some text.',
      details: [{ field: 'message', problem: 'contains only whitespace' }],
    });
  }
  const bytes = Buffer.byteLength(message);
  if (bytes > limit) throw tooLong(`${bytes}`, limit);
  if (message === '') {
    const isIgnored = context.stdinIsFed && !sources.stdin && sources.words.length === 0;
    throw new ParleyError('USAGE', 'There is no message to send.', {
      hint: isIgnored
        ? 'Standard input is not read because of -n, or of PARLEY_NO_STDIN=1 in the environment.'
        : 'Pass one, as in parley chat "Hello", or pipe one in.',
    });
  }
  return message;
}

/** With `-f *.md`, the shell passes every file but the first as a word. The names would be sent instead of the contents. */
async function warnAboutFileNames({ words, file = [] }: MessageSources, context: CliContext): Promise<void> {
  if (file.length === 0) return;
  const names = words.filter((word) => existsSync(word) && statSync(word).isFile());
  if (names.length === 0) return;
  const [first = ''] = names;
  const others = names.length > 1 ? ` and ${names.length - 1} more` : '';
  await context.say(
    `${first}${others}: sent as text, not as files. Each file needs its own -f: -f ${quoteForShell(first)}`,
  );
}

function tooLong(bytes: string, limit: number): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `The message has ${bytes} bytes; the limit is ${limit}.`, {
    hint: 'Nothing was sent. Send it in parts.',
  });
}

/** Where `-` requests stdin; null if it does not. */
function stdinPlaceOf({ words, file = [], stdin }: MessageSources): 'words' | 'file' | null {
  const isWord = words.length === 1 && words[0] === '-';
  const times = file.filter((path) => path === '-').length + Number(isWord);
  if (times === 0) return null;
  if (!stdin) throw new ParleyError('USAGE', '- and -n (or PARLEY_NO_STDIN) cannot be used together.');
  if (times > 1) {
    throw new ParleyError('USAGE', '- was given more than once, but stdin can only be read once.', {
      hint: 'Remove one of them.',
    });
  }
  return isWord ? 'words' : 'file';
}
