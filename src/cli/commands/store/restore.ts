// `parley store restore`: makes the store of a backup, once the backup is known to be whole.
import type { Command } from 'commander';
import type { RestoreReport } from '../../../service/backup-report.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { backupArgument, backupInput } from './backup-input.ts';
import { sayModes } from './said-modes.ts';
import { StoreProgress } from './store-progress.ts';

export interface StoreRestoreInput {
  /** The backup, or `-` for standard input. */
  readonly file: string;
  readonly replaces: boolean;
}

export function registerStoreRestore(parent: Command, run: Run): void {
  parent
    .command('restore')
    .description('make the store of a backup; a store that holds sessions is refused')
    .argument('<file>', backupArgument)
    .option('--replace', 'replace a store that holds sessions; in SQLite the old one is kept beside it')
    .action((file: string, { replace }: { replace?: true }, command: Command) =>
      run(command, (context) => runStoreRestore({ file, replaces: replace ?? false }, context)),
    );
}

export async function runStoreRestore(
  { file, replaces }: StoreRestoreInput,
  context: CliContext,
): Promise<undefined> {
  const { host, options, stdout, signal } = context;
  const target = context.resolve('report');
  if (target.url !== null) throw administeredElsewhere(target.url);
  const progress = new StoreProgress(context);
  let report: RestoreReport;
  try {
    // A file that is not whole is refused before anything is written. Standard input can be read only once.
    if (file !== '-') await host.backups.verify({ ...backupInput(file, context), progress, signal });
    report = await host.backups.restore({
      target,
      replaces,
      ...backupInput(file, context),
      progress,
      signal,
    });
  } finally {
    progress.stop();
  }
  if (options.json) {
    await stdout.write(`${toJson({ success: true, data: { file, ...report } })}\n`);
    return;
  }
  const { sessions, messages, made_at, place, kept, keys } = report;
  const rows = `${counted(sessions, 'session')} with ${counted(messages, 'message')}`;
  await stdout.write(`${progress.ending(`Restored ${rows} to ${place}, as they were at ${made_at}`)}\n`);
  if (kept !== null) await context.say(`The store that was there is kept in ${kept}`);
  await sayModes(report.modes, target.store === null ? host.profileFile.path : place, context);
  await context.say(keysSaid(keys));
}

function keysSaid({ restored, kept }: RestoreReport['keys']): string {
  if (restored === 0 && kept === 0) return 'It has no keys: make them with parley keys create';
  const parts = [
    ...(restored > 0 ? [`${counted(restored, 'key')} of the backup`] : []),
    ...(kept > 0 ? [`${counted(kept, 'key')} of the store before`] : []),
  ];
  return `Its keys: ${parts.join(', ')}.`;
}
