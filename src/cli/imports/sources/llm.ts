// The log of llm, `logs.db`: a row of `responses` is a prompt with its reply, and a conversation has several. A response without a conversation
// is a conversation of one turn. Newer versions keep threads of turns instead (llm-threads.ts). A file may contain both.
import { type ForeignMessage, singleBranch, textParts } from '../conversation.ts';
import { type DatabaseRow, ForeignDatabase } from '../foreign-database.ts';
import { asText, parsedFields, textOf } from '../foreign-value.ts';
import { configDirectories, type Source } from '../source.ts';
import { threadsOf, timeInUtc } from './llm-threads.ts';

export const llm: Source = {
  name: 'llm',
  title: 'llm log',
  recognises: ({ name, text }) =>
    text.startsWith('SQLite format 3\0') && (name === 'logs.db' || /CREATE TABLE \W?responses\b/.test(text)),
  places(machine) {
    const { LLM_USER_PATH: own } = machine.env;
    const paths = own === undefined ? configDirectories(machine, 'io.datasette.llm') : [own];
    return paths.map((path) => ({ path: `${path}/logs.db`, pattern: /\/logs\.db$/, keptDays: null }));
  },
  async *read(file, options) {
    const database = await ForeignDatabase.open(file, options);
    try {
      for (const conversation of threadsOf(database)) {
        options.signal.throwIfAborted();
        yield { place: `thread ${conversation.id}`, conversation };
      }
      if (!database.hasTable('responses')) return;
      const hasNames = database.hasTable('conversations');
      const names = hasNames ? 'SELECT id, name FROM conversations' : "SELECT '' AS id, NULL AS name WHERE 0";
      const titles = new Map(database.rows(names).map(({ id, name }) => [asText(id), textOf(name)]));
      // A thread with the id of a conversation continues it and repeats its messages.
      const isThread = database.hasTable('threads')
        ? 'coalesce(conversation_id, id) IN (SELECT id FROM threads)'
        : '0';
      const ids = database.rows(
        `SELECT DISTINCT coalesce(conversation_id, id) AS id FROM responses WHERE NOT ${isThread} ORDER BY rowid`,
      );
      for (const row of ids) {
        options.signal.throwIfAborted();
        const id = asText(row['id']);
        const turns = database.rows(
          'SELECT * FROM responses WHERE conversation_id = @id OR (conversation_id IS NULL AND id = @id) ORDER BY datetime_utc, rowid',
          { id },
        );
        const system = turns.map((turn) => textOf(turn['system'])).find((text) => text !== null) ?? null;
        const conversation = { id, title: titles.get(id) ?? null, created: null, system };
        const branches = singleBranch(turns.flatMap(messagesOf));
        yield { place: `conversation ${id}`, conversation: { ...conversation, branches } };
      }
    } finally {
      database.close();
    }
  },
};

function messagesOf(turn: DatabaseRow): readonly ForeignMessage[] {
  const time = timeInUtc(turn['datetime_utc']);
  const id = textOf(turn['id']);
  const thinking =
    textOf(turn['reasoning']) ?? textOf(parsedFields(turn['response_json'])['reasoning_content']);
  return [
    {
      id,
      role: 'user',
      time,
      model: null,
      finish: null,
      parts: textParts('text', textOf(turn['prompt'])),
    },
    {
      id: id === null ? null : `${id}-reply`,
      role: 'assistant',
      time,
      finish: null,
      parts: [...textParts('thinking', thinking), ...textParts('text', textOf(turn['response']))],
      model: textOf(turn['model']),
    },
  ];
}
