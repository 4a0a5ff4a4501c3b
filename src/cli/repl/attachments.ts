// Files that go with the next message: read when they are named, so that one that cannot be read is told at once, and again when
// the message is sent, as they then are.
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import type { CliContext } from '../context.ts';
import { readFileMessage, readFileText } from '../terminal/file-message.ts';
import type { Conversation } from './conversation.ts';

/** An empty path takes all of them back. */
export async function attach(path: string, conversation: Conversation, context: CliContext): Promise<void> {
  if (path === '') {
    conversation.files = [];
    await context.say('No file goes with the next message.');
    return;
  }
  const text = await readFileText(path, defaultLimits.messageBytes, context.signal);
  conversation.files = [...conversation.files.filter((other) => other !== path), path];
  await context.say(`${path} (${Buffer.byteLength(text)} bytes) goes with the next message.`);
}

/** The message as it is sent: the text, then the files, a blank line between. */
export async function withFiles(text: string, { files }: Conversation, context: CliContext): Promise<string> {
  const limit = defaultLimits.messageBytes;
  const parts = [text];
  for (const path of files) parts.push(await readFileMessage(path, limit, context.signal));
  const message = parts.join('\n\n');
  const bytes = Buffer.byteLength(message);
  if (bytes <= limit || files.length === 0) return message;
  throw new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `With its files the message has ${bytes} bytes; the limit is ${limit}.`,
    {
      hint: 'Nothing was sent. /file alone takes the files out again.',
    },
  );
}
