// `parley sessions batches`: the batches that can be resumed or undone, from their journals on this machine.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import type { BatchKind } from '../../session-batch/batch-kind.ts';
import { toJson } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';

interface BatchRow {
  readonly batch: string;
  /** ISO 8601, UTC. */
  readonly made_at: string;
  /** Where it was begun. */
  readonly origin: string;
  readonly project_id: string | null;
  /** The distinct ids that it was given. */
  readonly ids: number;
  readonly kind: BatchKind;
  /** How many of them are as the batch wants them. */
  readonly done: number;
  /** The same for a batch of deletions, else 0. */
  readonly deleted: number;
  readonly not_found: number;
  /** Ids that are still to be done, failed ones included. */
  readonly left: number;
  /** The last restore of it; null if there was none. */
  readonly restored: { readonly sessions: number; readonly at: string } | null;
}

const columnsOf = (origin: string): readonly Column<BatchRow>[] => [
  { title: 'BATCH', value: ({ batch }) => batch },
  { title: 'BEGUN', value: ({ made_at }) => made_at },
  { title: 'DONE', value: ({ done }) => String(done) },
  { title: 'LEFT', value: ({ left }) => String(left) },
  { title: 'UNDONE', value: ({ restored }) => (restored === null ? '' : restored.at) },
  { title: 'WHERE', value: (row) => (row.origin === origin ? 'here' : row.origin), flexible: true },
  { title: 'WHAT', value: ({ kind }) => kind },
];

export function registerBatches(parent: Command, run: Run): void {
  parent
    .command('batches')
    .description(
      'list the batches of deletions and of other changes, the newest first, and which of them were undone',
    )
    .action((_options, command: Command) => run(command, runBatches));
}

export async function runBatches(context: CliContext): Promise<undefined> {
  const { knownBatches } = await import('../../session-batch/known-batches.ts');
  const unreadable: string[] = [];
  const rows: BatchRow[] = [];
  for (const known of knownBatches(context.host.dataDirectory, (path) => unreadable.push(path))) {
    const { batch, made_at, origin, project_id, ids } = known.seal;
    const { kind } = known.action;
    const done = known.count('done');
    rows.push({
      ...{ batch, made_at, origin, project_id, ids },
      kind,
      done,
      deleted: kind === 'delete' ? done : 0,
      not_found: known.count('missing'),
      left: known.count('outstanding'),
      restored: known.restored,
    });
  }
  if (context.options.json) await context.stdout.write(`${toJson({ success: true, data: rows })}\n`);
  else await writeTable(context.stdout, columnsOf(context.target.origin), rows);
  for (const path of unreadable) await context.say(`${path} is not a whole journal of a batch.`);
  if (rows.length === 0 && !context.options.json) await context.say('There is no batch.');
}
