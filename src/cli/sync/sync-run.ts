// Runs `parley sync`: joins the sessions of both sides, and brings each to the same state on both.
import { setMaxListeners } from 'node:events';
import { requireProfile } from '../../config/profiles.ts';
import { ParleyError } from '../../service/errors.ts';
import { runInOrder } from '../batch/ordered-run.ts';
import { requireTags } from '../commands/sessions/required-tags.ts';
import type { CliContext } from '../context.ts';
import { reportInWords } from '../error-report.ts';
import { exitDone, exitSomeFailed } from '../exit-codes.ts';
import type { Agreement } from './agreement.ts';
import { joinedSessions } from './joined-sessions.ts';
import { type SyncResult, syncSession } from './session-sync.ts';
import { Side, syncConcurrency } from './side.ts';
import type { SideName } from './side-name.ts';
import { SyncMemory } from './sync-memory.ts';
import type { JoinedSession } from './sync-plan.ts';
import { SyncReport } from './sync-report.ts';
import { isSelected } from './sync-selection.ts';
import { targetsKey } from './sync-targets.ts';

export interface SyncInput {
  /** The profile of the other side. */
  readonly profile: string;
  readonly direction: 'push' | 'pull' | null;
  /** Only sessions with one of these tags; none for all sessions. */
  readonly tags: readonly string[];
  readonly dryRun: boolean;
  /** True to ignore all earlier syncs. */
  readonly forgets: boolean;
  /** Prints a result line for each session, even at a terminal. */
  readonly verbose: boolean;
}

type Outcome = { readonly joined: JoinedSession } & (
  | { readonly synced: SyncResult }
  | { readonly isUnselected: true }
  | { readonly error: ParleyError }
);

export async function syncTargets(input: SyncInput, context: CliContext): Promise<number> {
  requireProfile(context.host.profileFile.read(), input.profile, null);
  const remote = context.withOptions({ profile: input.profile, url: null, store: null });
  try {
    const key = await targetsKey(context, remote);
    await requireTags(input.tags, context);
    const { dataDirectory, locks } = context.host;
    const memory = await SyncMemory.open(dataDirectory, key, {
      locks,
      forgets: input.forgets && !input.dryRun,
    });
    try {
      return await syncAll(input, { local: context, remote }, memory);
    } finally {
      memory.close();
    }
  } finally {
    await remote.close();
  }
}

async function syncAll(
  input: SyncInput,
  contexts: Readonly<Record<SideName, CliContext>>,
  memory: SyncMemory,
): Promise<number> {
  const { dryRun, direction } = input;
  const { local: context } = contexts;
  const fatal = new AbortController();
  const signal = AbortSignal.any([context.stopSignal, fatal.signal]);
  // Each running call adds a listener.
  setMaxListeners(0, signal);
  const giveUp = (error: unknown) => fatal.abort(error);
  const report = new SyncReport(context, input);
  const sideOf = (name: SideName) =>
    new Side(name, contexts[name].withSignal(signal), {
      giveUp,
      signal,
      random: context.host.random,
      say: (line) => void report.say(line),
    });
  const sides = { local: sideOf('local'), remote: sideOf('remote') };
  const writes: readonly SideName[] =
    direction === null ? ['local', 'remote'] : [direction === 'push' ? 'remote' : 'local'];
  /** The forks that this sync created. They may appear in a listing later. */
  const forks = new Set<string>();
  let lastStatus = 0;
  const sync = async (joined: JoinedSession): Promise<Outcome | null> => {
    if (!isSelected(joined, input.tags)) return { joined, isUnselected: true };
    try {
      const synced = await syncSession(joined, { sides, writes, dryRun });
      if (synced.forkAgreement !== undefined) forks.add(synced.forkAgreement.session_id);
      return { joined, synced };
    } catch (error) {
      if (error instanceof ParleyError && isOwnFailure(error, sides)) return { joined, error };
      giveUp(error);
      return null;
    }
  };
  const write = async (outcomes: readonly (Outcome | null)[]) => {
    for (const outcome of outcomes) {
      if (outcome === null) continue;
      const { joined } = outcome;
      if ('isUnselected' in outcome) {
        remember(memory, joined.agreed, dryRun);
        report.skipUnselected();
        continue;
      }
      if ('error' in outcome) {
        remember(memory, joined.agreed, dryRun);
        await report.fail(joined.session_id, outcome.error);
        lastStatus = await reportInWords(outcome.error, context);
        continue;
      }
      remember(memory, outcome.synced.agreed, dryRun);
      if (outcome.synced.forkAgreement !== undefined && !dryRun) memory.addFork(outcome.synced.forkAgreement);
      const isReported = forks.has(joined.session_id) && isCopied(outcome.synced);
      if (!isReported) await report.add(joined.session_id, outcome.synced);
    }
    if (!dryRun) memory.flush();
  };
  try {
    const agreements = () => (input.forgets ? noAgreements() : memory.agreements());
    await runInOrder<JoinedSession, Outcome | null>(joinedSessions(sides, agreements), {
      concurrency: syncConcurrency,
      window: { items: 64 * syncConcurrency },
      signal,
      run: sync,
      write,
    });
    signal.throwIfAborted();
    if (!dryRun) await memory.finish();
  } finally {
    report.stop();
  }
  await report.end();
  if (report.failed === 0) return exitDone;
  return report.finished === 1 ? lastStatus : exitSomeFailed;
}

function remember(memory: SyncMemory, agreed: Agreement | null, dryRun: boolean): void {
  if (agreed !== null && !dryRun) memory.add(agreed);
}

function isCopied({ status }: SyncResult): boolean {
  return status === 'pushed' || status === 'pulled' || status === 'unchanged';
}

async function* noAgreements(): AsyncGenerator<Agreement, void> {}

/** True for a failure of this session only. The others continue. */
function isOwnFailure(error: ParleyError, sides: Readonly<Record<SideName, Side>>): boolean {
  if (sides.local.isFatal(error) || sides.remote.isFatal(error)) return false;
  const codes = ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'INTERNAL_ERROR', 'PAYLOAD_TOO_LARGE', 'BAD_RESPONSE'];
  return error.kind === 'input' || codes.includes(error.code);
}
