// `parley store verify`: reads a whole backup and checks its integrity.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { backupArgument, backupInput } from './backup-input.ts';
import { StoreProgress } from './store-progress.ts';

export function registerStoreVerify(parent: Command, run: Run): void {
  parent
    .command('verify')
    .description('check the integrity of a whole backup')
    .argument('<file>', backupArgument)
    .action(run(runStoreVerify));
}

export async function runStoreVerify(file: string, context: CliContext): Promise<void> {
  const { host, options, stdout, signal } = context;
  const progress = new StoreProgress(context);
  const facts = await host.backups
    .verify({ ...backupInput(file, context), progress, signal })
    .finally(() => progress.stop());
  if (options.json) return stdout.write(successLine({ file, ...facts }));
  const { sessions, messages, projects, keys, made_at, from, sha256 } = facts;
  const rows = `${counted(projects, 'project')}, ${counted(sessions, 'session')}, ${counted(messages, 'message')}`;
  const withKeys = keys === 0 ? 'no keys' : counted(keys, 'key');
  await writeNotice(progress.ending(`The backup is intact: ${rows}, ${withKeys}`), stdout);
  await writeNotice(`It contains ${from} as of ${made_at} (SHA-256 ${sha256}).`, stdout);
}
