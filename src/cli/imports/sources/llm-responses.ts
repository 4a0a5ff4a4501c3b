// The older tables of llm's log: a row of `responses` is a prompt with its reply. What belongs to a response is in tables beside it, which early
// versions lack. Most of these tables have no index, so the rows of all responses are found at once.
import {
  type ForeignConversation,
  type ForeignMessage,
  type Part,
  singleBranch,
  textParts,
} from '../conversation.ts';
import type { DatabaseRow, ForeignDatabase } from '../foreign-database.ts';
import { asText, parsedFields, textOf } from '../foreign-value.ts';
import { attachmentName, timeInUtc } from './llm-values.ts';

/** The tables beside `responses`, with the query of a row. */
const companions = {
  prompt_attachments: 'SELECT attachment_id FROM prompt_attachments WHERE rowid = ?',
  prompt_fragments:
    'SELECT source, content FROM prompt_fragments JOIN fragments ON fragments.id = fragment_id WHERE prompt_fragments.rowid = ?',
  system_fragments:
    'SELECT content FROM system_fragments JOIN fragments ON fragments.id = fragment_id WHERE system_fragments.rowid = ?',
  tool_calls: 'SELECT name, arguments FROM tool_calls WHERE rowid = ?',
  tool_results: 'SELECT * FROM tool_results WHERE rowid = ?',
} as const;

type Companion = keyof typeof companions;

export class Responses {
  readonly #database: ForeignDatabase;
  readonly #titles: ReadonlyMap<string, string | null>;
  /** The rows of each conversation, in the order of their times. */
  readonly #conversations: ReadonlyMap<string, readonly number[]>;
  readonly #companions = new Map<Companion, ReadonlyMap<string, readonly number[]>>();

  constructor(database: ForeignDatabase) {
    this.#database = database;
    const hasTable = (name: string) => database.hasTable(name);
    const titles = hasTable('conversations') ? database.rows('SELECT id, name FROM conversations') : [];
    this.#titles = new Map(titles.map(({ id, name }) => [asText(id), textOf(name)]));
    // A response without a conversation is a conversation of one turn.
    const key = 'coalesce(conversation_id, id)';
    this.#conversations = hasTable('responses')
      ? rowsBy(database, 'responses', key, 'datetime_utc')
      : new Map();
    for (const table of Object.keys(companions) as Companion[]) {
      if (!hasTable(table)) continue;
      const order = table.startsWith('tool_') ? 'rowid' : '"order"';
      this.#companions.set(table, rowsBy(database, table, 'response_id', order));
    }
  }

  /** The ids of the conversations, in the order of their first rows. */
  get ids(): Iterable<string> {
    return this.#conversations.keys();
  }

  turnsOf(conversation: string): readonly DatabaseRow[] {
    const rowids = this.#conversations.get(conversation) ?? [];
    return rowids.flatMap((rowid) => this.#database.rows('SELECT * FROM responses WHERE rowid = ?', [rowid]));
  }

  conversation(id: string): ForeignConversation {
    const turns = this.turnsOf(id);
    const system = turns.map((turn) => this.#systemOf(turn)).find((text) => text !== '') ?? null;
    const branches = singleBranch(turns.flatMap((turn) => this.#messagesOf(turn)));
    return { id, title: this.#titles.get(id) ?? null, created: null, system, branches };
  }

  #rows(table: Companion, response: string | null): readonly DatabaseRow[] {
    const rowids = this.#companions.get(table)?.get(response ?? '') ?? [];
    return rowids.flatMap((rowid) => this.#database.rows(companions[table], [rowid]));
  }

  #systemOf(turn: DatabaseRow): string {
    const fragments = this.#rows('system_fragments', textOf(turn['id'])).map(({ content }) =>
      asText(content),
    );
    return [asText(turn['system']), ...fragments].filter((text) => text !== '').join('\n\n');
  }

  #messagesOf(turn: DatabaseRow): readonly ForeignMessage[] {
    const id = textOf(turn['id']);
    const facts = { time: timeInUtc(turn['datetime_utc']), finish: null };
    const own = (suffix: string) => (id === null ? null : `${id}${suffix}`);
    const reply = { ...facts, role: 'assistant', model: textOf(turn['model']) } as const;
    const thinking =
      textOf(turn['reasoning']) ?? textOf(parsedFields(turn['response_json'])['reasoning_content']);
    const calls = this.#rows('tool_calls', id).map(({ name, arguments: input }): Part => {
      return { kind: 'tool', name: asText(name), input: asText(input) };
    });
    // The results of the calls of the response before are the input of this one.
    const results = this.#rows('tool_results', id).map(({ name, output, exception }): Part => {
      return { kind: 'result', name: textOf(name), text: textOf(exception) ?? asText(output) };
    });
    return [
      { ...reply, id: own('-results'), parts: results },
      { ...facts, id, role: 'user', model: null, parts: this.#promptOf(turn) },
      {
        ...reply,
        id: own('-reply'),
        parts: [...textParts('thinking', thinking), ...textParts('text', textOf(turn['response'])), ...calls],
      },
    ];
  }

  #promptOf(turn: DatabaseRow): readonly Part[] {
    const id = textOf(turn['id']);
    const files = this.#rows('prompt_attachments', id).map(({ attachment_id }): Part => {
      return { kind: 'attachment', name: attachmentName(asText(attachment_id), this.#database), text: null };
    });
    const fragments = this.#rows('prompt_fragments', id).map(({ source, content }): Part => {
      return { kind: 'attachment', name: textOf(source) ?? 'fragment', text: textOf(content) };
    });
    return [...files, ...fragments, ...textParts('text', textOf(turn['prompt']))];
  }
}

/** The rowids for each value of `key`, which are in the order of the table. The rowids of one value are in the order of `order`. */
export function rowsBy(
  database: ForeignDatabase,
  table: string,
  key: string,
  order: string,
): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, { rowid: number; place: string | number }[]>();
  const sql = `SELECT rowid AS number, ${key} AS key, ${order} AS place FROM ${table} ORDER BY rowid`;
  for (const { number, key: value, place } of database.rows(sql)) {
    const own = asText(value);
    const one = { rowid: Number(number), place: typeof place === 'number' ? place : asText(place) };
    const before = found.get(own);
    if (before === undefined) found.set(own, [one]);
    else before.push(one);
  }
  const byPlace = (one: { place: string | number }, other: { place: string | number }) =>
    one.place < other.place ? -1 : Number(one.place > other.place);
  return new Map([...found].map(([own, rows]) => [own, rows.sort(byPlace).map(({ rowid }) => rowid)]));
}
