// `parley sessions create`: creates an empty session. Prints only its id, for scripts.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { rememberOrReport } from '../../remember-session.ts';
import type { Run } from '../../run.ts';
import {
  addSettingOptions,
  initialSettings,
  readSettings,
  type SettingFlags,
} from '../../setting-options.ts';
import { toJson } from '../../terminal/json.ts';

interface CreateFlags extends SettingFlags {
  readonly title?: string;
  readonly user?: string;
}

export function registerCreate(parent: Command, run: Run): void {
  const command = parent
    .command('create')
    .description('create an empty session and print its id')
    .option('--title <title>', 'title of up to 200 characters')
    .option('--user <name>', 'the user that the session belongs to');
  addSettingOptions(command).action(run(runCreate));
}

export async function runCreate(flags: CreateFlags, context: CliContext): Promise<void> {
  const { title = null, user } = flags;
  const initial = await readSettings(flags, null, context.signal);
  const { backend } = await context.open();
  const request = { title, ...initialSettings(initial), ...(user !== undefined && { user }) };
  const { data, body } = await backend.service.createSession(await context.call(), request);
  await rememberOrReport(data.session_id, null, context);
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.stdout.write(`${data.session_id}\n`);
}
