// The log of llm, `logs.db`. Older versions keep conversations of responses (llm-responses.ts), newer ones threads of turns (llm-threads.ts). A file
// may contain both.
import { ForeignDatabase } from '../foreign-database.ts';
import { configDirectories, type Source } from '../source.ts';
import { Responses } from './llm-responses.ts';
import { threadsOf } from './llm-threads.ts';

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
      const responses = new Responses(database);
      const threads = new Set<string>();
      for (const conversation of threadsOf(database, responses)) {
        options.signal.throwIfAborted();
        threads.add(conversation.id);
        yield { place: `thread ${conversation.id}`, conversation };
      }
      for (const id of responses.ids) {
        // A thread with the id of a conversation continues it and repeats its messages.
        if (threads.has(id)) continue;
        options.signal.throwIfAborted();
        yield { place: `conversation ${id}`, conversation: responses.conversation(id) };
      }
    } finally {
      database.close();
    }
  },
};
