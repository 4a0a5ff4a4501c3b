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

export interface CreateInput {
  readonly title: string | null;
  readonly user: string | null;
  readonly settings: SettingFlags;
}

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
  addSettingOptions(command).action((flags: CreateFlags, command: Command) =>
    run(command, (context) =>
      runCreate({ title: flags.title ?? null, user: flags.user ?? null, settings: flags }, context),
    ),
  );
}

export async function runCreate({ title, user, settings }: CreateInput, context: CliContext): Promise<void> {
  const initial = await readSettings(settings, null, context.signal);
  const { backend } = await context.open();
  const request = { title, ...initialSettings(initial), ...(user !== null && { user }) };
  const { data, body } = await backend.service.createSession(await context.call(), request);
  await rememberOrReport(data.session_id, null, context);
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.stdout.write(`${data.session_id}\n`);
}
