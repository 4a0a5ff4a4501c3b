// Checks the two targets of a sync: they must be different, and both must support a sync.
import { createHash } from 'node:crypto';
import type { Backend } from '../../service/backend.ts';
import { ParleyError } from '../../service/errors.ts';
import { batchOwner } from '../commands/sessions/batch.ts';
import type { CliContext } from '../context.ts';

const needed = ['archive', 'lines', 'settings', 'sync'] as const;

/** The key of the memory of the two targets. It is the same in both directions. Rejects with `USAGE` if they are the same. */
export async function targetsKey(local: CliContext, remote: CliContext): Promise<string> {
  const names: string[] = [];
  for (const context of [local, remote]) {
    const { owner } = await batchOwner(context);
    const { backend } = await context.open();
    requireExtensions(backend, context.target.origin);
    names.push(JSON.stringify([owner.origin, owner.project_id ?? owner.key]));
  }
  const [one, other] = names;
  if (one === other) {
    throw new ParleyError('USAGE', 'The profile names the target in use, so there is nothing to sync.', {
      hint: 'Nothing was done. The target in use is that of --profile, --url or --store, or of the profile that profiles use has chosen.',
    });
  }
  return createHash('sha256').update(names.toSorted().join('\n')).digest('hex').slice(0, 32);
}

function requireExtensions({ extensions }: Backend, origin: string): void {
  const missing = needed.filter((name) => extensions?.includes(name) !== true);
  if (missing.length === 0) return;
  throw new ParleyError(
    'UNSUPPORTED',
    `A sync needs extensions that ${origin} lacks: ${missing.join(', ')}.`,
    {
      hint: 'Nothing was done. Update Parley there. Until then, use parley sessions export and parley sessions import',
    },
  );
}
