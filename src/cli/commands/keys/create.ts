// `parley keys create`: creates a key. The key is printed only once, because the store keeps only its hash.
import { type Command, Option } from 'commander';
import { localProfile, storeKey } from '../../../config/profiles.ts';
import type { Administration, CreatedKey } from '../../../service/administration.ts';
import { ParleyError } from '../../../service/errors.ts';
import { type KeyScope, keyScopes } from '../../../service/key-limits.ts';
import { type PointInTime, pointInTime, timeAhead } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { storeKeyChange } from '../../store-key-change.ts';
import { successLine } from '../../terminal/json.ts';
import { wholeNumber } from '../../whole-number.ts';

interface KeysCreateFlags {
  readonly project: string;
  readonly name: string;
  /** Makes it the key of the current profile. */
  readonly use?: true;
  readonly scope?: KeyScope;
  readonly expires?: PointInTime;
  readonly turnsPerDay?: number;
  readonly tokensPerDay?: number;
}

export function registerKeysCreate(parent: Command, run: Run): void {
  parent
    .command('create')
    .description('create a key for a project, and print it once')
    .requiredOption('--project <name>', 'the project; it is created if it does not exist')
    .option('--name <name>', 'a name to recognise the key by', 'key')
    .option('--use', 'store it as the key of the profile in use')
    .addOption(
      new Option(
        '--scope <scope>',
        'what it may do: read; chat, which includes read; or admin, everything (default: everything)',
      ).choices(keyScopes),
    )
    .option('--expires <when>', 'when it expires, as in 90d or 2027-01-31 (default: never)', pointInTime)
    .option('--turns-per-day <n>', 'the most turns per day in UTC (default: no limit)', wholeNumber(1))
    .option('--tokens-per-day <n>', 'the most tokens per day in UTC (default: no limit)', wholeNumber(1))
    .action(run(runKeysCreate));
}

function limitsOf({ scope, expires, turnsPerDay, tokensPerDay }: KeysCreateFlags, now: number) {
  const expiresAt = expires === undefined ? null : timeAhead(expires, now);
  if (expiresAt !== null && Date.parse(expiresAt) <= now)
    throw new ParleyError('USAGE', `The time of --expires is in the past: ${expiresAt}.`, {
      hint: 'No key was created. Give a time in the future, as in 90d.',
    });
  return {
    scope: scope ?? null,
    expires_at: expiresAt,
    turns_per_day: turnsPerDay ?? null,
    tokens_per_day: tokensPerDay ?? null,
  };
}

export async function runKeysCreate(flags: KeysCreateFlags, context: CliContext): Promise<void> {
  const { use = false } = flags;
  const limits = limitsOf(flags, context.host.now());
  await context.open({ beginsStore: use });
  const administration = await context.administration();
  const created = await administration.createKey({
    project_name: flags.project,
    key_name: flags.name,
    ...limits,
  });
  if (use) await storeInProfile(created, administration, context);
  if (context.options.json) return context.stdout.write(successLine(created));
  await context.stdout.write(`${created.key}\n`);
  await context.say(
    `Key ${created.key_id} of project ${created.project_name}. It is not shown again; ${use ? 'the profile now uses it, and shows only the sessions of this project' : 'use it as PARLEY_API_KEY'}.`,
  );
}

/** Stores the key in the profile. If that fails, the key is revoked, because nobody has seen it. */
async function storeInProfile(
  { key, key_id }: CreatedKey,
  administration: Administration,
  context: CliContext,
): Promise<void> {
  const { profileFile } = context.host;
  const { storeName } = context.target;
  const profile = context.target.profile ?? localProfile;
  try {
    const put = await storeKeyChange(profile, context);
    await profileFile.update((config) => put(config, profile, storeName, key));
  } catch (error) {
    if (storeKey(profileFile.read(), profile, storeName) !== key) await administration.revokeKey(key_id);
    throw error;
  }
}
