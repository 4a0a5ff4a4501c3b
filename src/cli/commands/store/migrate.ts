// `parley store migrate`: migrates a store to the schema of this version, before servers of this version are started.
import type { Command } from 'commander';
import type { StoreMigration } from '../../../service/administration.ts';
import { monotonicMs } from '../../../system/monotonic-clock.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { summarySentence } from '../../summary-sentence.ts';
import { successLine } from '../../terminal/json.ts';

export function registerStoreMigrate(parent: Command, run: Run): void {
  parent
    .command('migrate')
    .description('migrate the store to the schema of this version, or create it')
    .action(run(runStoreMigrate));
}

export async function runStoreMigrate(context: CliContext): Promise<void> {
  const target = context.resolve('report');
  if (target.url !== null) throw administeredElsewhere(target.url);
  const startedAt = monotonicMs();
  const { stdout, stderr, options } = context;
  // SQLite blocks the process while it migrates, so no progress can be shown.
  if (!options.quiet) stderr.draw('Migrating the store if needed. A large store takes a while.');
  const migration = await context.host.migrateStore(target, options.timeout).finally(() => stderr.erase());
  const place = target.storeName;
  if (options.json) await stdout.write(successLine({ place, ...migration }));
  else await stdout.write(`${migrationSentence(place, migration, monotonicMs() - startedAt)}\n`);
}

function migrationSentence(place: string, { from, to, backup }: StoreMigration, tookMs: number): string {
  if (from === to) return `Store ${place} already has schema ${to}.`;
  if (from === 0) return `Created store ${place} with schema ${to}.`;
  const backupNote = backup === null ? '' : ` The old store is kept in ${backup}`;
  return `${summarySentence(`Migrated store ${place} from schema ${from} to ${to}`, tookMs)}${backupNote}`;
}
