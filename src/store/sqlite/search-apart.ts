// The long messages, which are in no index: each search looks through those of its project. To find a word in 1 MiB takes a few
// milliseconds; to take that into an index may take seconds, in which nobody else could write.
import type { Connection } from './connection.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';
import type { FindMatches } from './search-matches.ts';

export const apartStatements = {
  next: `
    SELECT message.id, message.session, message.created_at, octet_length(message.content) AS bytes, message.content
    FROM search_apart CROSS JOIN messages AS message ON message.id = search_apart.message
    CROSS JOIN sessions ON sessions.id = message.session
    WHERE search_apart.project = (SELECT id FROM projects WHERE project_id = @projectId)
      AND search_apart.message < @before AND sessions.project = search_apart.project AND deleted_at IS NULL
    ORDER BY search_apart.message DESC LIMIT 1`,
} as const;

export interface HitRow {
  readonly id: number;
  readonly session: number;
  readonly created_at: number;
  readonly bytes: number;
}

interface LongRow extends HitRow {
  readonly content: string;
}

/** The newest that hold all terms, at most `most`. Everything else in this process gets its turn between two. */
export async function longHits(
  { connection, wait }: { readonly connection: Connection; readonly wait: LockWait },
  projectId: string,
  find: FindMatches,
  terms: number,
  most: number,
): Promise<readonly HitRow[]> {
  const hits: HitRow[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; hits.length < most; ) {
    const bindings = { projectId, before };
    const row = await whenUnlocked(() => connection.get<LongRow>(apartStatements.next, bindings), wait);
    if (row === undefined) break;
    const { content, ...hit } = row;
    if (new Set(find(content).map(({ term }) => term)).size === terms) hits.push(hit);
    before = row.id;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return hits;
}
