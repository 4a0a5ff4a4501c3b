// One operation over many session ids: a result line per id as it happens, on past failures, an honest exit status.
import type { Call } from '../../../service/call.ts';
import { ParleyError } from '../../../service/errors.ts';
import { defaultLimits } from '../../../service/limits.ts';
import type { BatchItem } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import { tellFailure } from '../../error-report.ts';
import { exitDone, exitSomeFailed, exitStatus } from '../../exit-codes.ts';
import { toJson } from '../../terminal/json.ts';
import type { GivenId } from '../../terminal/session-ids.ts';

export interface BatchWork<Done extends string> {
  /** The word for an id that it was done to. */
  readonly done: Done;
  readonly ids: readonly GivenId[];
  /** Whether an id that is not found counts as well done. */
  readonly ignoreMissing: boolean;
  many(call: Call, ids: readonly string[]): Promise<readonly BatchItem<Done>[]>;
  one(call: Call, id: string): Promise<unknown>;
}

export interface ItemResult {
  readonly session_id: string;
  readonly status: string;
  /** Where it went. */
  readonly file?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export async function runBatch<Done extends string>(
  work: BatchWork<Done>,
  context: CliContext,
): Promise<number> {
  const counts = new Map<string, number>();
  const write = async (results: readonly ItemResult[]) => {
    for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1);
    await writeResults(results, context);
  };

  const [only, second] = work.ids;
  if (only !== undefined && second === undefined) return runSingle(work, only.id, write, context);
  const size = defaultLimits.batchIds;
  for (let start = 0; start < work.ids.length; start += size) {
    context.host.stopSignal.throwIfAborted();
    const given = work.ids.slice(start, start + size);
    const fresh = given.filter(({ duplicate }) => !duplicate).map(({ id }) => id);
    const results = await chunkResults(work, fresh, context);
    let next = 0;
    await write(
      given.map(({ id, duplicate }) =>
        duplicate
          ? { session_id: id, status: 'duplicate' }
          : (results[next++] ?? { session_id: id, status: 'failed' }),
      ),
    );
  }
  const failed = (counts.get('failed') ?? 0) + (work.ignoreMissing ? 0 : (counts.get('not_found') ?? 0));
  await context.say([...counts].map(([status, count]) => `${count} ${status.replace('_', ' ')}`).join(', '));
  return failed > 0 ? exitSomeFailed : exitDone;
}

/** A reader that has seen enough of the result lines does not stop what was asked for. */
async function batchCall(context: CliContext): Promise<Call> {
  return { ...(await context.call()), signal: context.host.stopSignal };
}

/** A line each. */
export async function writeResults(results: readonly ItemResult[], context: CliContext): Promise<void> {
  const lines = results.map((result) => (context.options.json ? toJson(result) : resultLine(result)));
  await context.stdout.writeUntrusted(lines.map((line) => `${line}\n`).join(''));
}

/** Of one id, its failure is the command's own, and is told in words too. */
async function runSingle<Done extends string>(
  work: BatchWork<Done>,
  id: string,
  write: (results: readonly ItemResult[]) => Promise<void>,
  context: CliContext,
): Promise<number> {
  try {
    await work.one(await batchCall(context), id);
    await write([{ session_id: id, status: work.done }]);
    return exitDone;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'SESSION_NOT_FOUND') throw error;
    const { code, message } = error;
    if (work.ignoreMissing) {
      await write([{ session_id: id, status: 'not_found' }]);
      return exitDone;
    }
    await write([{ session_id: id, status: 'not_found', error: { code, message } }]);
    return tellFailure(error, context);
  }
}

/** One result per id, in order. Only what makes going on useless is thrown: a refused key, a store that fails, a stop. */
async function chunkResults<Done extends string>(
  work: BatchWork<Done>,
  ids: readonly string[],
  context: CliContext,
): Promise<readonly ItemResult[]> {
  try {
    return ids.length === 0 ? [] : await work.many(await batchCall(context), ids);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'UNSUPPORTED') return eachResult(work, ids, context);
    return ids.map((id) => failedResult(id, error));
  }
}

async function eachResult<Done extends string>(
  work: BatchWork<Done>,
  ids: readonly string[],
  context: CliContext,
): Promise<readonly ItemResult[]> {
  const results: ItemResult[] = [];
  for (const id of ids) {
    try {
      await work.one(await batchCall(context), id);
      results.push({ session_id: id, status: work.done });
    } catch (error) {
      results.push(failedResult(id, error));
    }
  }
  return results;
}

function failedResult(id: string, error: unknown): ItemResult {
  if (!(error instanceof ParleyError)) throw error;
  const { code, message } = error;
  if (exitStatus[code] === 4 || exitStatus[code] === 7) throw error;
  if (code === 'SESSION_NOT_FOUND') return { session_id: id, status: 'not_found' };
  return { session_id: id, status: 'failed', error: { code, message } };
}

function resultLine({ status, session_id, error }: ItemResult): string {
  return `${status} ${session_id}${status === 'failed' && error ? ` ${error.code}` : ''}`;
}
