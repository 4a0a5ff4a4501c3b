// `parley store backup`: writes a consistent snapshot of the whole store to one file, while others use the store.
import type { Command } from 'commander';
import type { BackupFacts } from '../../../service/backup-report.ts';
import { ParleyError } from '../../../service/errors.ts';
import { PartOwner } from '../../../system/part-owner.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { NewFile } from '../../transcripts/export-target.ts';
import { StoreProgress } from './store-progress.ts';

interface StoreBackupFlags {
  readonly withKeys?: boolean;
  readonly force?: boolean;
}

export function registerStoreBackup(parent: Command, run: Run): void {
  parent
    .command('backup')
    .description('write a consistent backup of all projects, sessions and modes to a file')
    .argument('<file>', 'the file to write, or - for stdout')
    .option('--with-keys', 'include the hashes of the API keys; without them a restored store needs new keys')
    .option('--force', 'overwrite an existing file')
    .action(run(runStoreBackup));
}

/** `path` is a file, or `-` for standard output. */
export async function runStoreBackup(
  path: string,
  { withKeys = false, force = false }: StoreBackupFlags,
  context: CliContext,
): Promise<void> {
  const { host, options, stdout, signal } = context;
  const target = context.resolve('report');
  if (target.url !== null) throw administeredElsewhere(target.url);
  if (path === '-') refuseMixedOutput(context);
  const file = path === '-' ? null : NewFile.create(path, force, new PartOwner(host));
  const progress = new StoreProgress(context);
  let facts: BackupFacts;
  try {
    facts = await host.backups.backUp({
      target,
      withKeys,
      timeout: options.timeout,
      write: async (text) => (file === null ? stdout.write(text) : file.write(text)),
      progress,
      signal,
    });
    file?.keep();
  } catch (error) {
    file?.discard();
    throw error;
  } finally {
    progress.stop();
  }
  if (options.json) return stdout.write(successLine({ file: path, ...facts }));
  const keys = facts.keys > 0 ? ` and ${counted(facts.keys, 'key')}` : '';
  const rows = `${counted(facts.sessions, 'session')}, ${counted(facts.messages, 'message')}${keys}`;
  await context.say(
    progress.ending(`Backed up ${rows} of ${facts.from} to ${path === '-' ? 'standard output' : path}`),
  );
}

function refuseMixedOutput({ options, stdout }: CliContext): void {
  if (options.json) {
    throw new ParleyError('USAGE', 'The backup and the result of --json cannot both go to standard output.', {
      hint: 'Remove --json, or name a file.',
    });
  }
  if (stdout.isTerminal) {
    throw new ParleyError('USAGE', 'A backup cannot be written to a terminal.', {
      hint: 'Name a file, or redirect standard output.',
    });
  }
}
