// How the rows of a log of llm become messages, and how the time to read them grows.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { llm } from '../../../src/cli/imports/sources/llm.ts';
import { databaseConversations, textsOf } from '../../support/source-readings.ts';

const responses = `CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
  CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT, response_json TEXT,
    conversation_id TEXT, datetime_utc TEXT);`;

const read = (sql: string) => databaseConversations(llm, 'logs.db', sql);

test('attachments, fragments, calls of tools and their results are kept', async () => {
  const { conversations } = await read(`${responses}
    CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
    CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER, PRIMARY KEY (response_id, attachment_id));
    CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
    CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
    CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
    CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
    CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT,
      exception TEXT);
    INSERT INTO responses VALUES ('a', 'm', 'What is it?', 'Be brief.', 'I look.', '{}', 'c', '2025-01-01T00:00:00');
    INSERT INTO responses VALUES ('b', 'm', '', '', 'A tide.', '{}', 'c', '2025-01-01T00:00:05');
    INSERT INTO attachments VALUES ('p', 'image/png', '/home/ann/tide.png', NULL, NULL);
    INSERT INTO prompt_attachments VALUES ('a', 'p', 0);
    INSERT INTO fragments VALUES (1, 'h', 'high at noon', '', 'tides.txt'), (2, 'i', 'Mind the moon.', '', NULL);
    INSERT INTO prompt_fragments VALUES ('a', 1, 0);
    INSERT INTO system_fragments VALUES ('a', 2, 0);
    INSERT INTO tool_calls VALUES (1, 'a', 1, 'see', '{"at":"noon"}', 't');
    INSERT INTO tool_results VALUES (1, 'b', 1, 'see', 'water', 't', NULL), (2, 'b', 1, 'hear', '', 'u', 'Error: deaf')`);
  const [conversation = expect.fail('There is no conversation.')] = conversations;
  expect(conversation.system).toBe('Be brief.\n\nMind the moon.');
  expect(textsOf(llm, conversation)).toEqual([
    [
      'user: [attachment: tide.png]\n\n[attachment: tides.txt]\n```\nhigh at noon\n```\n\nWhat is it?',
      'assistant: I look.\n\n> [tool: see] {"at":"noon"}\n\n> [result: see] water\n\n> [result: hear] Error: deaf\n\nA tide.',
    ],
  ]);
});

const threads = `CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
  CREATE INDEX messages_parent ON messages (parent_hash);
  CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
  CREATE UNIQUE INDEX parts_message ON parts (message_hash, position);
  CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
  CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
    resolved_model TEXT, datetime_utc TEXT);
  CREATE INDEX turns_thread ON turns (thread_id);`;

test('no table is read from its beginning for each conversation', async () => {
  const { statements, path } = await read(`${responses} ${threads}
    INSERT INTO responses VALUES ('a', 'm', 'One?', NULL, 'One.', '{}', 'c', '2025-01-01T00:00:00'),
      ('b', 'm', 'Two?', NULL, 'Two.', '{}', NULL, '2025-01-01T00:00:00'),
      ('d', 'm', 'Three?', NULL, 'Three.', '{}', 't', '2025-01-01T00:00:00');
    INSERT INTO messages VALUES ('h', NULL, 'user'), ('i', 'h', 'assistant');
    INSERT INTO parts VALUES (1, 'h', 0, 'text', NULL, 'Three?', NULL), (2, 'i', 0, 'text', NULL, 'Three.', NULL);
    INSERT INTO threads VALUES ('t', 'T', 'i', '2025-01-01T00:00:00');
    INSERT INTO turns VALUES ('u', 't', 'h', 'i', 'm', NULL, '2025-01-01T00:00:00')`);
  const database = new Database(path);
  const scans = statements
    .filter((statement) => /[?@]/.test(statement))
    .flatMap((statement) => {
      const values = statement.includes('@') ? [{ thread: 't', id: 'c', name: 'c' }] : ['c'];
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all(...values) as { detail: string }[];
      return plan
        .map(({ detail }) => detail)
        .filter((detail) => /^SCAN (?!chain|sqlite_master|\d)/.test(detail));
    });
  database.close();
  expect(scans).toEqual([]);
});
