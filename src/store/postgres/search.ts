// What a search reads: hits of the index, the newest first, then texts and sessions. What is made of them is the rule's.
import type { Role } from '../../service/session.ts';
import { type SessionRow, toSession, toTime } from '../rows.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { FoundMessage, SearchReads, ShownSession, StoreRules } from '../store-rules.ts';
import type { Ask } from './connection-pool.ts';
import { indexQuery } from './search-words.ts';
import { sessionColumns } from './sessions.ts';
import { statement } from './statement.ts';

/** How many bytes of texts are read at a time. */
const bytesOfStep = 1024 * 1024;
const rowsOfStep = 1000;

const projectNumber = statement('SELECT id FROM parley.projects WHERE project_id = $1');
// A session is looked up for each hit: joined as tables, the planner would read all sessions for ten hits.
const found = (which: string) => `
  SELECT search.id, session.session_id, search.position, message.created_at, octet_length(message.content) AS bytes
  FROM parley.search
  CROSS JOIN LATERAL (
    SELECT session_id FROM parley.sessions
    WHERE sessions.id = search.session AND sessions.project = $1 AND sessions.deleted_at IS NULL LIMIT 1
  ) AS session
  JOIN parley.messages AS message ON message.session = search.session AND message.position = search.position
  WHERE ${which} AND search.id < $2 ORDER BY search.id DESC LIMIT $3`;
const hits = statement(found('search.words @@ $4::tsquery'));
/** Messages of more words than an index takes: whether they hold the terms is looked for in their texts. */
const unindexed = statement(found('search.words IS NULL'));
const ofActive = `
  FROM unnest($2::bigint[]) WITH ORDINALITY AS input (id, place)
  JOIN parley.search ON search.id = input.id
  JOIN parley.messages AS message ON message.session = search.session AND message.position = search.position
  JOIN parley.sessions AS session ON session.id = search.session
  WHERE session.project = $1 AND session.deleted_at IS NULL ORDER BY input.place`;
const contents = statement(`SELECT input.id, message.content ${ofActive}`);
const shownMessages = statement(`
  SELECT ${sessionColumns}, message.message_id, message.role, message.created_at AS message_created_at, message.content
  ${ofActive}`);

interface ShownRow extends SessionRow {
  readonly message_id: string;
  readonly role: Role;
  readonly message_created_at: number;
  readonly content: string;
}

export async function searchReads(
  ask: Ask,
  rules: StoreRules,
  projectId: string,
  filter: SearchFilter,
): Promise<SearchReads> {
  const [row] = await ask<{ id: number }>(projectNumber, [projectId]);
  // Rows are numbered from 1: in a project that is not there nothing is found.
  const project = row?.id ?? 0;
  const { query, isExact } = indexQuery(filter, project, rules);
  const holds = rules.matcher(filter);
  return {
    async hits(most) {
      const found = [
        ...(await readHits(
          most,
          (before, limit) => ask<FoundMessage>(hits, [project, before, limit, query]),
          isExact,
        )),
        ...(await readHits(
          most,
          (before, limit) => ask<FoundMessage>(unindexed, [project, before, limit]),
          false,
        )),
      ];
      return found.sort((one, other) => other.id - one.id).slice(0, most);
    },
    async *texts(messages) {
      for (const step of inSteps(messages)) yield await textsOf(step);
    },
    async *shown(sessions) {
      for (const { messages } of sessions) yield await shown(messages);
    },
  };

  async function readHits(
    most: number,
    next: (before: number, limit: number) => Promise<readonly FoundMessage[]>,
    areExact: boolean,
  ): Promise<readonly FoundMessage[]> {
    const kept: FoundMessage[] = [];
    const limit = areExact ? most : rowsOfStep;
    for (let before = Number.MAX_SAFE_INTEGER; kept.length < most; ) {
      const rows = await next(before, limit);
      kept.push(...(areExact ? rows : await holding(rows)));
      if (rows.length < limit) break;
      before = rows.at(-1)?.id ?? 0;
    }
    return kept;
  }

  async function holding(rows: readonly FoundMessage[]): Promise<readonly FoundMessage[]> {
    const kept: FoundMessage[] = [];
    for (const step of inSteps(rows)) {
      const texts = await textsOf(step);
      kept.push(...step.filter((_, index) => holds(texts[index] ?? '')));
    }
    return kept;
  }

  async function textsOf(messages: readonly FoundMessage[]): Promise<readonly (string | null)[]> {
    const ids = messages.map(({ id }) => id);
    const rows = await ask<{ id: number; content: string }>(contents, [project, ids]);
    const byId = new Map(rows.map(({ id, content }) => [id, content]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  async function shown(messages: readonly number[]): Promise<ShownSession | null> {
    const rows = await ask<ShownRow>(shownMessages, [project, messages]);
    const [first] = rows;
    if (first === undefined) return null;
    return {
      session: toSession(first),
      messages: rows.map(({ message_id, role, message_created_at, content }) => ({
        ...{ message_id, role, content, created_at: toTime(message_created_at) },
      })),
    };
  }
}

function* inSteps(messages: readonly FoundMessage[]): Generator<readonly FoundMessage[]> {
  let begin = 0;
  let bytes = 0;
  for (const [index, message] of messages.entries()) {
    bytes += message.bytes;
    if (bytes < bytesOfStep && index - begin < rowsOfStep - 1 && index < messages.length - 1) continue;
    yield messages.slice(begin, index + 1);
    begin = index + 1;
    bytes = 0;
  }
}
