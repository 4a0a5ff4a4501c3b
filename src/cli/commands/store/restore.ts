// `parley store restore`: creates a store from a backup, after verifying the backup.
import type { Command } from 'commander';
import type { RestoreReport } from '../../../service/backup-report.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import type { TargetFlags } from '../../target-options.ts';
import { successLine } from '../../terminal/json.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { commandAtTarget } from '../sessions/batch.ts';
import { backupArgument, backupInput } from './backup-input.ts';
import { reportModes } from './modes-report.ts';
import { StoreProgress } from './store-progress.ts';

export function registerStoreRestore(parent: Command, run: Run): void {
  parent
    .command('restore')
    .description('create the store from a backup; refuses to overwrite a store with sessions')
    .argument('<file>', backupArgument)
    .option('--replace', 'replace a store with sessions; in SQLite the old one is kept beside it')
    .action(run(runStoreRestore));
}

/** `file` is the backup, or `-` for standard input. */
export async function runStoreRestore(
  file: string,
  { replace = false }: { readonly replace?: boolean },
  context: CliContext,
): Promise<void> {
  const { host, options, stdout, signal } = context;
  const target = context.resolve('report');
  if (target.url !== null) throw administeredElsewhere(target.url);
  const progress = new StoreProgress(context);
  let report: RestoreReport;
  try {
    // A damaged file is refused before anything is written. Standard input can be read only once.
    if (file !== '-') await host.backups.verify({ ...backupInput(file, context), progress, signal });
    report = await host.backups.restore({
      target,
      replaces: replace,
      timeout: options.timeout,
      ...backupInput(file, context),
      progress,
      signal,
    });
  } finally {
    progress.stop();
  }
  if (options.json) return stdout.write(successLine({ file, ...report }));
  const { sessions, messages, made_at, place, kept, keys } = report;
  const rows = `${counted(sessions, 'session')} with ${counted(messages, 'message')}`;
  await writeNotice(progress.ending(`Restored ${rows} to ${place}, as they were at ${made_at}`), stdout);
  if (kept !== null) await context.say(`The old store is kept in ${kept}`);
  await reportModes(report.modes, target.store === null ? host.profileFile.path : place, context);
  await context.say(keysSentence(keys, target.key !== null, options));
}

function keysSentence(
  { restored, kept }: RestoreReport['keys'],
  hasKey: boolean,
  target: TargetFlags,
): string {
  if (restored === 0 && kept === 0) {
    // The first use creates a key only if the profile has none. The key of a lost store stays in the profile.
    return hasKey
      ? `It has no keys, and the key in use is not valid for it. To create another: ${commandAtTarget('keys create --project default --use', target)}`
      : 'It has no keys. The first use creates one for the project default. To create another: parley keys create --project NAME';
  }
  const parts = [
    ...(restored > 0 ? [`${counted(restored, 'key')} from the backup`] : []),
    ...(kept > 0 ? [`${counted(kept, 'key')} from the old store`] : []),
  ];
  return `Its keys: ${parts.join(', ')}.`;
}
