// `parley keys revoke`: revokes a key. Every process refuses it from its next request on.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerKeysRevoke(parent: Command, run: Run): void {
  parent
    .command('revoke')
    .description('revoke a key')
    .argument('<key-id>', 'the key id, as shown by keys list')
    .action(run(runKeysRevoke));
}

export async function runKeysRevoke(keyId: string, context: CliContext): Promise<void> {
  const administration = await context.administration();
  const record = await administration.revokeKey(keyId);
  if (context.options.json) await context.stdout.write(successLine(record));
  else await context.say(`Revoked ${record.key_id} of project ${record.project_name}.`);
}
