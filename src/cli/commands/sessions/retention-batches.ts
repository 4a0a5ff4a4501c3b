// The batches of retention. They stand in the store, not in journals, because a server makes them too.
import { ParleyError } from '../../../service/errors.ts';
import type { RetentionBatch } from '../../../service/project-retention.ts';
import { progressOn } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone } from '../../exit-codes.ts';
import { toJson } from '../../terminal/json.ts';

export function isRetentionBatch(batch: string): boolean {
  return batch.startsWith('ret_');
}

/** Those of the store on this machine; none for a server elsewhere, or if there is no store yet. A failure is only told. */
export async function retentionBatches(context: CliContext): Promise<readonly RetentionBatch[]> {
  if (context.target.url !== null) return [];
  const say = (line: string) => context.say(line);
  const options = { ...context.engineOptions, beginsStore: false, followsModes: false, say };
  try {
    const { backend } = await context.host.openBackend(context.target, { ...options, onlyExisting: true });
    try {
      return (await (await backend.administration?.retention())?.batches()) ?? [];
    } finally {
      await backend.close();
    }
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    if (error.code !== 'CONFIG')
      await say(
        `The batches of retention are not listed, because the store cannot be read: ${error.message}`,
      );
    return [];
  }
}

/** Restores all sessions of a batch that are not erased. Resolves with the exit status. */
export async function restoreRetentionBatch(batch: string, context: CliContext): Promise<number> {
  const retention = await (await context.administration()).retention();
  const known = (await retention.batches()).find((each) => each.batch === batch);
  const progress = progressOn(context, {
    ...{
      end: known?.expired ?? null,
      unit: 'items',
      outcomes: ['restored'],
      resultsApart: true,
    },
  });
  const restored = await retention
    .restoreBatch(batch, {
      signal: context.stopSignal,
      onStep: (sessions) => {
        for (let count = 0; count < sessions; count += 1) progress.finish('restored');
      },
    })
    .finally(() => progress.stop());
  if (context.options.json)
    await context.stdout.write(`${toJson({ success: true, data: { batch, restored } })}\n`);
  else {
    await context.stdout.write(`Restored ${counted(restored, 'session')} of the batch ${batch}.\n`);
    const others = (known?.expired ?? 0) - restored;
    if (others > 0)
      await context.say(`${others} of it were erased, restored before, or deleted again by hand.`);
  }
  return exitDone;
}
