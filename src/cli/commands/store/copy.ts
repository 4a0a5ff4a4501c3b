// `parley store copy`: copies all rows of a store into a new one, and compares the two.
import type { Command } from 'commander';
import { readNamedStore } from '../../../config/named-store.ts';
import type { CopyReport } from '../../../service/administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { reportModes } from './modes-report.ts';
import { StoreProgress } from './store-progress.ts';

interface StoreCopyFlags {
  /** The directory of a store in SQLite, or the address of one in PostgreSQL. */
  readonly from: string;
  readonly to: string;
  /** Resumes a copy that was stopped. */
  readonly resume?: true;
}

export function registerStoreCopy(parent: Command, run: Run): void {
  parent
    .command('copy')
    .description('copy a store into a new one: a directory (SQLite) or postgres://USER@HOST/DATABASE')
    .requiredOption('--from <store>', 'the store to copy; nothing may write to it during the copy')
    .requiredOption('--to <store>', 'the new store; it must be empty')
    .option('--resume', 'resume a copy that was stopped')
    .action(run(runStoreCopy));
}

export async function runStoreCopy(flags: StoreCopyFlags, context: CliContext): Promise<void> {
  const { host, options, stdout, signal } = context;
  const storeAt = (text: string, source: string) =>
    readNamedStore(text, {
      source,
      env: host.env,
      isInsecureAllowed: options.insecureStore,
      mayHoldPassword: false,
    });
  const from = storeAt(flags.from, '--from');
  const to = storeAt(flags.to, '--to');
  const progress = new StoreProgress(context);
  let report: CopyReport;
  try {
    report = await host.copyStores({
      from,
      to,
      resume: flags.resume ?? false,
      timeout: options.timeout,
      progress,
      signal,
    });
  } catch (error) {
    progress.stop();
    if (signal.aborted) await context.say('Stopped. To resume, run the same command with --resume');
    throw error;
  } finally {
    progress.stop();
  }
  if (options.json) return stdout.write(successLine(report));
  for (const { project_name, sessions, messages, hash } of report.projects) {
    const rows = `${counted(sessions, 'session')}, ${counted(messages, 'message')}`;
    await stdout.write(`${project_name}: ${rows}, identical in both (SHA-256 ${hash.slice(0, 16)}…)\n`);
  }
  await reportModes(report.modes, to.address === null ? host.profileFile.path : report.to, context);
  await context.say(
    progress.ending(
      `Copied ${counted(report.projects.length, 'project')} with ${counted(report.keys, 'key')} to ${report.to}`,
    ),
  );
}
