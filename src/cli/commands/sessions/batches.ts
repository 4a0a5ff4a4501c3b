// `parley sessions batches`: lists the batches and imports that can be resumed or undone, from their journals on this machine, and the runs of
// retention, from the store.
import type { Command } from 'commander';
import type { RetentionBatch } from '../../../service/project-retention.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { BatchKind } from '../../session-batch/batch-kind.ts';
import type { KnownImport } from '../../session-batch/import-journal.ts';
import type { BatchSummary } from '../../session-batch/journal-summary.ts';
import { timesIn } from '../../shown-time.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { utcOption } from '../../utc-option.ts';

interface BatchRow {
  readonly batch: string;
  /** `expire` is a run of retention. */
  readonly kind: BatchKind | 'import' | 'expire';
  /** ISO 8601, UTC. */
  readonly made_at: string;
  /** The target that it changed. */
  readonly origin: string;
  readonly project_id: string | null;
  /** The number of distinct ids that it was given or that it created. */
  readonly ids: number;
  /** How many of them are done. */
  readonly done: number;
  /** The same for deletions; 0 for other kinds. */
  readonly deleted: number;
  /** The number of sessions that an import created. */
  readonly imported: number;
  readonly not_found: number;
  /** How many ids are still to be done, including failed ones. */
  readonly left: number;
  /** The last restore of the batch; null if there was none. */
  readonly restored: { readonly sessions: number; readonly at: string } | null;
}

const columnsOf = (origin: string, time: (time: string) => string): readonly Column<BatchRow>[] => [
  { title: 'BATCH', value: ({ batch }) => batch },
  { title: 'BEGUN', value: ({ made_at }) => time(made_at) },
  { title: 'DONE', value: ({ done }) => String(done) },
  { title: 'LEFT', value: ({ left }) => String(left) },
  {
    title: 'UNDONE',
    value: ({ restored }) => (restored === null ? '' : time(restored.at)),
    omittedWhen: 'narrow',
  },
  {
    title: 'WHERE',
    value: (row) => (row.origin === origin ? 'here' : row.origin),
    flexible: true,
    omittedWhen: 'narrow',
  },
  { title: 'WHAT', value: ({ kind }) => kind },
];

export function registerBatches(parent: Command, run: Run): void {
  parent
    .command('batches')
    .description('list batches of changes, imports and retention runs, the newest first')
    .addOption(utcOption())
    .action(run(runBatches));
}

export async function runBatches(
  { utc = false }: { readonly utc?: boolean },
  context: CliContext,
): Promise<void> {
  const [{ knownBatches }, { createdBy, knownImports, sharedIds }, { retentionBatches }] = await Promise.all([
    import('../../session-batch/known-batches.ts'),
    import('../../session-batch/import-journal.ts'),
    import('./retention-batches.ts'),
  ]);
  const { dataDirectory } = context.host;
  const { origin } = context.target;
  const unreadable: string[] = [];
  const rows: BatchRow[] = [];
  for (const known of knownBatches(dataDirectory, (path) => unreadable.push(path)))
    rows.push(rowOfBatch(known));
  const imports = knownImports(dataDirectory);
  const shared = sharedIds(imports);
  for (const known of imports) rows.push(rowOfImport(known, createdBy(known, imports, shared).length));
  for (const known of await retentionBatches(context)) rows.push(rowOfRetention(known, origin));
  rows.sort((one, other) => Date.parse(other.made_at) - Date.parse(one.made_at));
  if (context.options.json) await context.stdout.write(successLine(rows));
  else {
    const time = timesIn(context.stdout, context.host.now(), { utc });
    await writeTable(context.stdout, columnsOf(origin, time), rows);
  }
  for (const path of unreadable)
    await context.say(`Skipped ${path}: it is not a complete journal of a batch.`);
  if (rows.length === 0 && !context.options.json) await context.say('No batches.');
}

function rowOfBatch({ seal, action: { kind }, done, missing, left, restored }: BatchSummary): BatchRow {
  const { batch, made_at, origin, project_id, ids } = seal;
  const deleted = kind === 'delete' ? done : 0;
  const counts = { ids, done, imported: 0, deleted, not_found: missing, left };
  return { batch, kind, made_at, origin, project_id, ...counts, restored };
}

/** `created` is the number of sessions that the import created. */
function rowOfImport({ seal, restored }: KnownImport, created: number): BatchRow {
  const { batch, made_at, origin, project_id } = seal;
  return completeRow({ batch, kind: 'import', made_at, origin, project_id, restored }, created);
}

function rowOfRetention(
  { batch, begun_at: made_at, project_id, expired, restored: sessions, restored_at: at }: RetentionBatch,
  origin: string,
): BatchRow {
  const restored = at === null ? null : { sessions, at };
  return completeRow({ batch, kind: 'expire', made_at, origin, project_id, restored }, expired);
}

/** The row of an import or a retention run, of which nothing is left. */
function completeRow(
  { restored, ...facts }: Pick<BatchRow, 'batch' | 'kind' | 'made_at' | 'origin' | 'project_id' | 'restored'>,
  done: number,
): BatchRow {
  const [imported, deleted] = facts.kind === 'import' ? [done, 0] : [0, done];
  return { ...facts, ids: done, done, imported, deleted, not_found: 0, left: 0, restored };
}
