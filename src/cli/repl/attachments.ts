// Files that are attached to the next message. A file is read when it is attached, so that a problem is reported at once. It is read
// again when the message is sent.
import { promises } from 'node:fs';
import { resolve } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { fenceText, readFileText, unreadableFile } from '../terminal/file-message.ts';
import { oneLine } from '../terminal/filter.ts';
import type { Conversation } from './conversation.ts';
import { distinctFiles, findMentions } from './file-mentions.ts';

/** An empty path removes all files from the next message. */
export async function attach(path: string, conversation: Conversation, context: CliContext): Promise<void> {
  if (path === '') {
    conversation.files = [];
    return context.say('The next message has no attached files.');
  }
  if (await isDevice(path))
    throw unreadableFile(path, 'it is a device', 'Nothing was sent. Name a text file.');
  const text = await readFileText(path, defaultLimits.messageBytes, context.inputWait);
  conversation.files = [...conversation.files.filter((other) => resolve(other) !== resolve(path)), path];
  const size = counted(Buffer.byteLength(text), 'byte');
  await context.say(`Attached ${oneLine(path)} (${size}) to the next message.`);
}

/** The terminal is a device. Reading it as a file would take all keys, including Ctrl-C, from the REPL. */
function isDevice(path: string): Promise<boolean> {
  return promises.stat(path).then(
    (status) => status.isCharacterDevice(),
    // Reading the file reports what is wrong with it.
    () => false,
  );
}

/**
 * The message as it is sent: the text, then the attached files, then those that the text names, with a blank line between them. `mentions` are
 * the paths after each `@`. Says which files were added, and which were not found.
 */
export async function withFiles(
  text: string,
  mentions: readonly string[],
  conversation: Conversation,
  context: CliContext,
): Promise<string> {
  const { files: named, others } = await findMentions(mentions, context.host.env['HOME'], context.signal);
  const files = distinctFiles([...conversation.files, ...named]);
  const { message, bytes } = await messageWith(text, files, context);
  const added = named.map((path) => `${path} (${counted(bytes.get(resolve(path)) ?? 0, 'byte')})`);
  const unread = others.map(({ path, reason }) => `${path} (${reason})`);
  if (added.length > 0) await context.sayDimly(`Added ${listed(added)}.`);
  if (unread.length > 0) await context.sayDimly(`Sent as text: ${listed(unread)}.`);
  return message;
}

const maxListed = 10;

function listed(items: readonly string[]): string {
  const rest = items.length - maxListed;
  return items.slice(0, maxListed).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

interface MessageWithFiles {
  readonly message: string;
  /** The size of the text of each file, by its absolute path. */
  readonly bytes: ReadonlyMap<string, number>;
}

async function messageWith(
  typed: string,
  files: readonly string[],
  context: CliContext,
): Promise<MessageWithFiles> {
  const limit = defaultLimits.messageBytes;
  const bytes = new Map<string, number>();
  let message = typed;
  for (const path of files) {
    const text = await readFileText(path, limit, context.inputWait).catch(rejectWithRemedy);
    bytes.set(resolve(path), Buffer.byteLength(text));
    message += `\n\n${fenceText(path, text)}`;
    // The text in memory exceeds the limit by one file at most.
    if (message.length > limit) break;
  }
  const length = Buffer.byteLength(message);
  if (length <= limit || files.length === 0) return { message, bytes };
  throw new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `With its files, the message has at least ${length} bytes; the limit is ${limit}.`,
    {
      hint: 'Nothing was sent. Name fewer or smaller files. /file alone removes the files that it attached.',
    },
  );
}

/** Each further message would fail, too, as long as the file is attached. */
function rejectWithRemedy(error: unknown): never {
  if (!(error instanceof ParleyError)) throw error;
  throw error.with({ hint: `${error.hint} /file alone removes the attached files.` });
}
