// `parley store migrate`: brings the tables of a store to the schema of this version, before the servers that need it are started.
import type { Command } from 'commander';
import type { StoreMigration } from '../../../service/administration.ts';
import { monotonicMs } from '../../../system/monotonic-clock.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { summarySentence } from '../../summary-sentence.ts';
import { toJson } from '../../terminal/json.ts';

export function registerStoreMigrate(parent: Command, run: Run): void {
  parent
    .command('migrate')
    .description('bring the store to the schema of this version; make it where there is none')
    .action((_options, command: Command) => run(command, runStoreMigrate));
}

export async function runStoreMigrate(context: CliContext): Promise<undefined> {
  const target = context.resolve('report');
  if (target.url !== null) throw administeredElsewhere(target.url);
  const began = monotonicMs();
  const { stdout, stderr, options } = context;
  // SQLite lets nothing else run while it migrates, so no progress can be shown.
  if (!options.quiet) stderr.draw('Migrating the store, if it is older. A large one takes a while.');
  const migration = await context.host.migrateStore(target).finally(() => stderr.erase());
  const place = target.storeName;
  if (options.json) await stdout.write(`${toJson({ success: true, data: { place, ...migration } })}\n`);
  else await stdout.write(`${described(place, migration, monotonicMs() - began)}\n`);
}

function described(place: string, { from, to, backup }: StoreMigration, tookMs: number): string {
  if (from === to) return `The store ${place} has schema ${to}: nothing to do.`;
  if (from === 0) return `Made the store ${place} with schema ${to}.`;
  const kept = backup === null ? '' : ` As it was before, it is kept in ${backup}`;
  return `${summarySentence(`Migrated the store ${place} from schema ${from} to ${to}`, tookMs)}${kept}`;
}
