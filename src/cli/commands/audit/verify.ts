// `parley audit verify`: checks that no entry of the audit log was changed, dropped, reordered or cut off.
import { type Command, InvalidArgumentError } from 'commander';
import type { AuditFault, AuditHead } from '../../../service/audit-entry.ts';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerAuditVerify(parent: Command, run: Run): void {
  parent
    .command('verify')
    .description('check that no entry was changed or removed')
    .option(
      '--head <number:hash>',
      'also check against this end of the log, which an earlier run printed',
      headOf,
    )
    .action(run(runAuditVerify));
}

function headOf(text: string): AuditHead {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (number !== undefined && hash !== undefined) return { number: Number(number), hash };
  throw new InvalidArgumentError('Give a number and a hash as printed by this command.');
}

/** `savedHead` is a head that was saved earlier. */
export async function runAuditVerify(
  { head: savedHead = null }: { readonly head?: AuditHead | null },
  context: CliContext,
): Promise<void> {
  const verified = await (await context.administration()).verifyAudit(savedHead);
  const { entries, head, faults } = verified;
  if (faults.length > 0) throw damaged(faults);
  if (context.options.json) return context.stdout.write(successLine(verified));
  if (head !== null) await context.stdout.write(`${head.number}:${head.hash}\n`);
  await context.say(
    head === null
      ? 'The audit log is empty.'
      : `The audit log is intact (${entries === 1 ? '1 entry' : `${entries} entries`}). Save the line above elsewhere, to check against it later with --head.`,
  );
}

const problemText: Readonly<Record<AuditFault['problem'], string>> = {
  changed: 'does not match the previous entry: one of the two was changed',
  missing: 'is missing',
  out_of_place: 'is after the end',
  unreadable: 'cannot be read',
  not_the_noted_one: 'does not match --head',
};

function damaged(faults: readonly AuditFault[]): ParleyError {
  const problems = faults.map(({ number, problem }) => `entry ${number} ${problemText[problem]}`).join('; ');
  return new ParleyError('STORE_DAMAGED', `The audit log is damaged: ${problems}.`, {
    hint: 'Compare it with an export or a backup.',
    details: faults.map(({ number, problem }) => ({ field: `entry ${number}`, problem })),
  });
}
