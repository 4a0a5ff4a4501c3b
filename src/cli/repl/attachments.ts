// Files that are attached to the next message. A file is read when it is attached, so that a problem is reported at once. It is read
// again when the message is sent.
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import type { CliContext } from '../context.ts';
import { readFileMessage, readFileText } from '../terminal/file-message.ts';
import type { Conversation } from './conversation.ts';

/** An empty path removes all files from the next message. */
export async function attach(path: string, conversation: Conversation, context: CliContext): Promise<void> {
  if (path === '') {
    conversation.files = [];
    await context.say('The next message has no attached files.');
    return;
  }
  const text = await readFileText(path, defaultLimits.messageBytes, context.signal);
  conversation.files = [...conversation.files.filter((other) => other !== path), path];
  await context.say(`Attached ${path} (${Buffer.byteLength(text)} bytes) to the next message.`);
}

/** The message as it is sent: the text, then the files, with a blank line between them. */
export async function withFiles(text: string, { files }: Conversation, context: CliContext): Promise<string> {
  const limit = defaultLimits.messageBytes;
  let message = text;
  for (const path of files) {
    message += `\n\n${await readFileMessage(path, limit, context.signal)}`;
    // The text in memory exceeds the limit by one file at most.
    if (message.length > limit) break;
  }
  const bytes = Buffer.byteLength(message);
  if (bytes <= limit || files.length === 0) return message;
  throw new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `With its files, the message has at least ${bytes} bytes; the limit is ${limit}.`,
    { hint: 'Nothing was sent. /file alone removes the files.' },
  );
}
