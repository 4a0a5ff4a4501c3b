// The two places of a sync: they must be two, and both must offer what a sync needs.
import { createHash } from 'node:crypto';
import type { Backend } from '../../service/backend.ts';
import { ParleyError } from '../../service/errors.ts';
import { batchOwner } from '../commands/sessions/batch.ts';
import type { CliContext } from '../context.ts';

const needed = ['archive', 'lines', 'settings', 'sync'] as const;

/** The key of the memory of the two. It is the same in both directions. Rejects with `USAGE` for one place twice. */
export async function placesKey(local: CliContext, remote: CliContext): Promise<string> {
  const names: string[] = [];
  for (const context of [local, remote]) {
    const { owner } = await batchOwner(context);
    const { backend } = await context.open();
    requireExtensions(backend, context.target.origin);
    names.push(JSON.stringify([owner.origin, owner.project_id ?? owner.key]));
  }
  const [one, other] = names;
  if (one === other) {
    throw new ParleyError('USAGE', 'The profile leads to the place that it is to be synced with.', {
      hint: 'Nothing was done. The other place is that of --profile, --url or --store, or of the profile in use.',
    });
  }
  return createHash('sha256').update(names.toSorted().join('\n')).digest('hex').slice(0, 32);
}

function requireExtensions({ extensions }: Backend, origin: string): void {
  const lacking = needed.filter((name) => extensions?.includes(name) !== true);
  if (lacking.length === 0) return;
  throw new ParleyError(
    'UNSUPPORTED',
    `A sync needs extensions that ${origin} lacks: ${lacking.join(', ')}.`,
    {
      hint: 'Nothing was done. Update Parley there. Until then: parley sessions export, and parley sessions import',
    },
  );
}
