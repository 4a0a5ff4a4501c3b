// `parley keys create`: makes a key. The key is printed only this once, because the store keeps only its hash.
import { type Command, Option } from 'commander';
import { localProfile, storeKey } from '../../../config/profiles.ts';
import type { Administration, CreatedKey, CreateKeyRequest } from '../../../service/administration.ts';
import { ParleyError } from '../../../service/errors.ts';
import { type KeyScope, keyScopes } from '../../../service/key-limits.ts';
import { type PointInTime, pointInTime, timeAhead } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { storeKeyChange } from '../../store-key-change.ts';
import { toJson } from '../../terminal/json.ts';
import { wholeNumber } from '../../whole-number.ts';

export interface KeysCreateInput {
  readonly project: string;
  readonly name: string;
  /** Makes it the key of the current profile. */
  readonly use: boolean;
  readonly limits: Omit<CreateKeyRequest, 'project_name' | 'key_name'>;
}

interface KeyOptions {
  readonly project: string;
  readonly name: string;
  readonly use?: true;
  readonly scope?: KeyScope;
  readonly expires?: PointInTime;
  readonly turnsPerDay?: number;
  readonly tokensPerDay?: number;
}

export function registerKeysCreate(parent: Command, run: Run): void {
  parent
    .command('create')
    .description('issue a key to a project, and print it once')
    .requiredOption('--project <name>', 'the project, made if there is none of that name')
    .option('--name <name>', 'a name to know the key by', 'key')
    .option('--use', 'use it from now on: keep it as the key of the profile in use')
    .addOption(
      new Option(
        '--scope <scope>',
        'what it may do: read; or chat, too; or admin, all of it (default: all of it)',
      ).choices(keyScopes),
    )
    .option('--expires <when>', 'when it ends, such as 90d or 2027-01-31', pointInTime)
    .option('--turns-per-day <n>', 'the most turns in a day (UTC)', wholeNumber(1))
    .option('--tokens-per-day <n>', 'the most tokens in a day (UTC)', wholeNumber(1))
    .action((options: KeyOptions, command: Command) =>
      run(command, (context) => {
        const { project, name, use = false } = options;
        return runKeysCreate({ project, name, use, limits: limitsOf(options, context.host.now()) }, context);
      }),
    );
}

function limitsOf({ scope, expires, turnsPerDay, tokensPerDay }: KeyOptions, now: number) {
  const expiresAt = expires === undefined ? null : timeAhead(expires, now);
  if (expiresAt !== null && Date.parse(expiresAt) <= now)
    throw new ParleyError('USAGE', `The time of --expires has passed: ${expiresAt}.`, {
      hint: 'No key was made. Give a time to come, such as 90d.',
    });
  return {
    scope: scope ?? null,
    expires_at: expiresAt,
    turns_per_day: turnsPerDay ?? null,
    tokens_per_day: tokensPerDay ?? null,
  };
}

export async function runKeysCreate(input: KeysCreateInput, context: CliContext): Promise<undefined> {
  await context.open({ beginsStore: input.use });
  const administration = await context.administration();
  const created = await administration.createKey({
    project_name: input.project,
    key_name: input.name,
    ...input.limits,
  });
  if (input.use) await keepKey(created, administration, context);
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: created })}\n`);
    return;
  }
  await context.stdout.write(`${created.key}\n`);
  const use = input.use ? 'the profile uses it from now on' : 'use it as PARLEY_API_KEY';
  await context.say(
    `Key ${created.key_id} of project ${created.project_name}. It is not shown again; ${use}.`,
  );
}

/** Stores the key in the profile. If that fails, nobody has seen the key, so it is revoked. */
async function keepKey(
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
