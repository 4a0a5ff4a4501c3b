// Reads a text, or a database, as a source of imports does.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import type { ForeignConversation, SourceReading } from '../../src/cli/imports/conversation.ts';
import { recordOf } from '../../src/cli/imports/conversation-record.ts';
import type { Source } from '../../src/cli/imports/source.ts';
import { filesAt } from '../../src/cli/imports/source-files.ts';
import { driver } from './driver.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const unneeded = () => expect.fail('No database is read.');

export async function readingsOf(source: Source, path: string, text: string): Promise<SourceReading[]> {
  const file = {
    path,
    bytes: 0,
    modified: null,
    local: null,
    place: null,
    async *open() {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50);
    },
  };
  const { signal } = new AbortController();
  const options = { signal, temporaryDirectory: unneeded, openDatabase: unneeded };
  const readings: SourceReading[] = [];
  for await (const reading of source.read(file, options)) readings.push(reading);
  return readings;
}

export async function conversationOf(
  source: Source,
  path: string,
  lines: readonly object[],
): Promise<ForeignConversation> {
  const readings = await readingsOf(source, path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  for (const reading of readings) if ('conversation' in reading) return reading.conversation;
  return expect.fail(JSON.stringify(readings));
}

/** The conversations of a database that `sql` makes, and the statements that read them. */
export async function databaseConversations(source: Source, name: string, sql: string) {
  const directory = temporaryDirectory();
  const path = join(directory, name);
  new Database(path).exec(sql).close();
  const found = await filesAt(path).next();
  const file = !found.done && 'file' in found.value ? found.value.file : expect.fail('There is no file.');
  const statements: string[] = [];
  const options = {
    signal: new AbortController().signal,
    temporaryDirectory: () => directory,
    openDatabase: async (copy: string) => {
      const database = driver.open(copy);
      return {
        close: () => database.close(),
        prepare(statement: string) {
          statements.push(statement);
          return database.prepare(statement);
        },
      };
    },
  };
  const conversations: ForeignConversation[] = [];
  for await (const reading of source.read(file, options))
    if ('conversation' in reading) conversations.push(reading.conversation);
  return { conversations, statements, path };
}

/** The messages of each branch as `role: text`. */
export function textsOf(source: Source, conversation: ForeignConversation): string[][] {
  const options = { source: source.name, fallbackTime: 0, messagesOnly: false };
  return [...conversation.branches].map((branch) =>
    (recordOf(conversation, branch, options)?.messages ?? []).map(
      ({ role, content }) => `${role}: ${content}`,
    ),
  );
}
