// How the rows of the database of opencode 2 become messages.
import { expect, test } from 'vitest';
import { opencode } from '../../../src/cli/imports/sources/opencode.ts';
import { databaseConversations, textsOf } from '../../support/source-readings.ts';

const read = (sql: string) => databaseConversations(opencode, 'opencode.db', sql);

const newTables = `
  CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT, time_created INTEGER);
  CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);`;
const oldTables = `
  CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT, time_created INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);`;

let seq = 0;
/** A row of `session_message`. A later row has a smaller id, so the order is that of `seq`. */
function newMessage(session: string, type: string, data: object): string {
  seq += 1;
  const json = JSON.stringify({ time: { created: seq }, ...data });
  return `INSERT INTO session_message VALUES ('msg_${1000 - seq}', '${session}', '${type}', ${seq}, ${seq}, '${json}');`;
}

const newSession = (id: string, parent: string | null = null) =>
  `INSERT INTO session_v2 VALUES ('${id}', ${parent === null ? 'NULL' : `'${parent}'`}, 'Title of ${id}', 1);`;

function oldTurn(session: string, text: string): string {
  const id = `msg_${session}_${text.length}`;
  return `INSERT OR IGNORE INTO session VALUES ('${session}', NULL, 'Title of ${session}', 1);
    INSERT INTO message VALUES ('${id}', '${session}', 1, '{"role":"user","time":{"created":1}}');
    INSERT INTO part VALUES ('prt_${id}', '${id}', '${session}', '{"type":"text","text":"${text}"}');`;
}

test('sessions of version 2 are read: texts, files, reasoning, tools, and commands of the shell', async () => {
  const tool = (state: object) => ({ type: 'tool', id: 'call', name: 'read', state });
  const { conversations } = await read(
    newTables +
      newSession('ses_a') +
      newMessage('ses_a', 'system', { text: 'You are an agent.' }) +
      newMessage('ses_a', 'user', { text: 'Read', files: [{ uri: 'file:///a/b.txt', name: 'b.txt' }] }) +
      newMessage('ses_a', 'synthetic', { text: 'a reminder' }) +
      newMessage('ses_a', 'assistant', {
        model: { id: 'm', providerID: 'p' },
        finish: 'length',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'I read.' },
          tool({ status: 'completed', input: { at: 1 }, content: [{ type: 'text', text: 'high' }] }),
          tool({ status: 'error', input: { at: 2 }, error: { message: 'no such file' } }),
        ],
      }) +
      newMessage('ses_a', 'compaction', { status: 'completed', summary: 'a summary', recent: '' }) +
      newMessage('ses_a', 'shell', { command: 'ls', output: { output: 'b.txt' } }),
  );
  const [conversation = expect.fail('There is no conversation.')] = conversations;
  expect(conversation).toMatchObject({ id: 'ses_a', title: 'Title of ses_a', created: 1 });
  const [branch] = conversation.branches;
  expect(branch?.messages.map(({ time, model, finish }) => [time, model, finish])).toEqual([
    [2, null, null],
    [4, 'm', 'length'],
    [6, null, null],
    [6, null, null],
  ]);
  expect(textsOf(opencode, conversation)).toEqual([
    [
      'user: [attachment: b.txt]\n\nRead',
      'assistant: > [thinking] Hm.\n\nI read.\n\n> [tool: read] {"at":1}\n\n> [result] high\n\n' +
        '> [tool: read] {"at":2}\n\n> [result] no such file',
      'user: !ls',
      'assistant: > [result] b.txt',
    ],
  ]);
});

test('a session in the tables of both versions is read from those in which it continues', async () => {
  const { conversations } = await read(
    oldTables +
      newTables +
      oldTurn('ses_both', 'one') +
      oldTurn('ses_old', 'old') +
      oldTurn('ses_half', 'half') +
      newSession('ses_both') +
      newSession('ses_half') +
      newSession('ses_sub', 'ses_both') +
      newMessage('ses_both', 'user', { text: 'one' }) +
      newMessage('ses_both', 'assistant', { content: [{ type: 'text', text: 'two' }] }) +
      newMessage('ses_sub', 'user', { text: 'a subagent' }),
  );
  expect(conversations.map((one) => [one.id, ...textsOf(opencode, one)])).toEqual([
    ['ses_both', ['user: one', 'assistant: two']],
    ['ses_half', ['user: half']],
    ['ses_old', ['user: old']],
  ]);
});

test('a reply that the user stopped, or that failed, does not count as complete', async () => {
  const partial = { content: [{ type: 'text', text: 'Half' }] };
  const errors = [{ type: 'aborted' }, { type: 'unknown', message: 'no network' }, undefined];
  const oldErrors = [
    { name: 'MessageAbortedError' },
    { name: 'MessageOutputLengthError' },
    { name: 'APIError' },
  ];
  const { conversations } = await read(
    oldTables +
      newTables +
      newSession('ses_a') +
      errors.map((error) => newMessage('ses_a', 'assistant', { ...partial, error })).join('') +
      "INSERT INTO session VALUES ('ses_b', NULL, 'B', 2);" +
      oldErrors
        .map((error, number) => {
          const data = JSON.stringify({ role: 'assistant', error });
          return `INSERT INTO message VALUES ('msg_${number}', 'ses_b', ${number}, '${data}');`;
        })
        .join(''),
  );
  const finishes = conversations.map(({ branches }) =>
    [...branches].map(({ messages }) => messages.map(({ finish }) => finish)),
  );
  expect(finishes).toEqual([[['interrupted', 'error', null]], [['interrupted', 'length', 'error']]]);
});
