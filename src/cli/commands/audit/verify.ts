// `parley audit verify`: checks that no entry of the audit log was changed, dropped, reordered or cut off.
import { type Command, InvalidArgumentError } from 'commander';
import type { AuditFault, AuditHead } from '../../../service/audit-entry.ts';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';

export interface AuditVerifyInput {
  /** A head that was kept elsewhere; null for none. */
  readonly head: AuditHead | null;
}

export function registerAuditVerify(parent: Command, run: Run): void {
  parent
    .command('verify')
    .description('check the chain of all entries')
    .option('--head <number:hash>', 'an end of the log that was printed before, and kept elsewhere', headOf)
    .action(({ head }: { head?: AuditHead }, command: Command) =>
      run(command, (context) => runAuditVerify({ head: head ?? null }, context)),
    );
}

function headOf(text: string): AuditHead {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number !== undefined && hash !== undefined) return { number: Number(number), hash };
  throw new InvalidArgumentError('Give a number and a hash, as this command printed them.');
}

export async function runAuditVerify(
  { head: noted }: AuditVerifyInput,
  context: CliContext,
): Promise<undefined> {
  const verified = await (await context.administration()).verifyAudit(noted);
  const { entries, head, faults } = verified;
  if (faults.length > 0) throw damaged(faults);
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: verified })}\n`);
    return;
  }
  if (head !== null) await context.stdout.write(`${head.number}:${head.hash}\n`);
  await context.say(
    head === null
      ? 'The audit log is empty.'
      : `The ${entries} entries are whole. Keep this end elsewhere; --head checks against it.`,
  );
}

const words: Readonly<Record<AuditFault['problem'], string>> = {
  changed: 'does not fit the entry before it: it was changed, or that one was',
  missing: 'is missing',
  out_of_place: 'stands behind the end',
  unreadable: 'cannot be read',
  not_the_noted_one: 'is not the one that was noted',
};

function damaged(faults: readonly AuditFault[]): ParleyError {
  const told = faults.map(({ number, problem }) => `entry ${number} ${words[problem]}`).join('; ');
  return new ParleyError('STORE_DAMAGED', `The audit log is not whole: ${told}.`, {
    hint: 'Compare it with an export or a backup of it.',
    details: faults.map(({ number, problem }) => ({ field: `entry ${number}`, problem })),
  });
}
