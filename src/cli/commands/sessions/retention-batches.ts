// The batches of retention runs. They are in the store, not in journals, because servers create them, too.
import { ParleyError } from '../../../service/errors.ts';
import type { RetentionBatch } from '../../../service/project-retention.ts';
import { itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone } from '../../exit-codes.ts';
import { successLine } from '../../terminal/json.ts';

export function isRetentionBatch(batch: string): boolean {
  return batch.startsWith('ret_');
}

/** The batches in the store on this machine; none if the target is a server or there is no store yet. A failure is only reported as a note. */
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
      await say(`Retention runs are not listed, because the store cannot be read: ${error.message}`);
    return [];
  }
}

/** Restores all sessions of a batch that are not erased. Resolves to the exit status. */
export async function restoreRetentionBatch(batch: string, context: CliContext): Promise<number> {
  const retention = await (await context.administration()).retention();
  const known = (await retention.batches()).find((each) => each.batch === batch);
  const progress = itemProgress(context, 'restored', known?.expired ?? null);
  const restored = await retention
    .restoreBatch(batch, {
      signal: context.stopSignal,
      onStep: (sessions) => progress.finishMany('restored', sessions),
    })
    .finally(() => progress.stop());
  if (context.options.json) await context.stdout.write(successLine({ batch, restored }));
  else {
    await context.stdout.write(`Restored ${counted(restored, 'session')} of batch ${batch}.\n`);
    const others = (known?.expired ?? 0) - restored;
    if (others > 0) await context.say(`${others} others were erased, already restored, or deleted again.`);
  }
  return exitDone;
}
