// The message of a chat: words, then files, then what is piped in, with a blank line between; each as it is, byte for byte.
import { ParleyError } from '../service/errors.ts';
import { defaultLimits } from '../service/limits.ts';
import type { CliContext } from './context.ts';
import { readFileMessage } from './terminal/file-message.ts';
import { readMessage } from './terminal/stdin.ts';

export interface MessageSources {
  /** `-` alone stands for stdin. */
  readonly words: readonly string[];
  readonly files: readonly string[];
  /** False for `-n`: stdin is left alone. */
  readonly stdin: boolean;
}

export async function composeMessage(sources: MessageSources, context: CliContext): Promise<string> {
  const limit = defaultLimits.messageBytes;
  const asked = sources.words.length === 1 && sources.words[0] === '-';
  if (asked && !sources.stdin) throw new ParleyError('USAGE', '- reads stdin, and -n does not: choose one.');
  const parts: string[] = asked ? [] : [sources.words.join(' ')];
  for (const path of sources.files) parts.push(await readFileMessage(path, limit, context.host.signal));
  if (asked || (sources.stdin && context.stdinIsFed)) {
    parts.push(await readMessage(context.reading('a message', '-n skips it'), limit));
  }
  const message = parts.filter((part) => part !== '').join('\n\n');
  if (message !== '' && message.trim() === '') {
    throw new ParleyError('INVALID_REQUEST', 'The message is white space alone.', {
      hint: 'Nothing was sent. Give a message that says something.',
      details: [{ field: 'message', problem: 'is white space alone' }],
    });
  }
  const bytes = Buffer.byteLength(message);
  if (bytes > limit) {
    throw new ParleyError('PAYLOAD_TOO_LARGE', `The message has ${bytes} bytes; the limit is ${limit}.`, {
      hint: 'Nothing was sent. Send it in parts.',
    });
  }
  if (message === '') {
    throw new ParleyError('USAGE', 'There is no message to send.', {
      hint: 'Give one, parley chat "Hello", or pipe one in.',
    });
  }
  return message;
}
