// What `parley sync` does: it joins the sessions of the two places, and brings each to the same state in both.
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
import { type Synced, syncSession } from './session-sync.ts';
import { Side, syncedAtOnce } from './side.ts';
import type { SideName } from './side-name.ts';
import { SyncMemory } from './sync-memory.ts';
import { placesKey } from './sync-places.ts';
import type { JoinedSession } from './sync-plan.ts';
import { SyncReport } from './sync-report.ts';
import { isSelected } from './sync-selection.ts';

export interface SyncInput {
  /** The profile of the other place. */
  readonly profile: string;
  readonly direction: 'push' | 'pull' | null;
  /** Only sessions with one of these tags; none for all sessions. */
  readonly tags: readonly string[];
  readonly dryRun: boolean;
  /** As if the two had never been synced. */
  readonly forgets: boolean;
  /** A result line for each session also at a terminal. */
  readonly verbose: boolean;
}

type Outcome = { readonly joined: JoinedSession } & (
  | { readonly synced: Synced }
  | { readonly isLeftOut: true }
  | { readonly error: ParleyError }
);

export async function syncPlaces(input: SyncInput, context: CliContext): Promise<number> {
  requireProfile(context.host.profileFile.read(), input.profile, null);
  const remote = context.withOptions({ profile: input.profile, url: null, store: null });
  try {
    const key = await placesKey(context, remote);
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
  const hopeless = new AbortController();
  const signal = AbortSignal.any([context.stopSignal, hopeless.signal]);
  // Each call under way adds a listener.
  setMaxListeners(0, signal);
  const giveUp = (error: unknown) => hopeless.abort(error);
  const report = new SyncReport(context, input);
  const sideOf = (name: SideName) =>
    new Side(name, contexts[name].withSignal(signal), {
      ...{ giveUp, signal, random: context.host.random },
      say: (line) => void report.say(line),
    });
  const sides = { local: sideOf('local'), remote: sideOf('remote') };
  const writes: readonly SideName[] =
    direction === null ? ['local', 'remote'] : [direction === 'push' ? 'remote' : 'local'];
  /** The forks that this sync has made, which it may meet in a listing again. */
  const made = new Set<string>();
  let lastStatus = 0;
  const sync = async (joined: JoinedSession): Promise<Outcome | null> => {
    if (!isSelected(joined, input.tags)) return { joined, isLeftOut: true };
    try {
      const synced = await syncSession(joined, { sides, writes, dryRun });
      if (synced.agreedFork !== undefined) made.add(synced.agreedFork.session_id);
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
      if ('isLeftOut' in outcome) {
        keep(memory, joined.agreed, dryRun);
        report.leaveOut();
        continue;
      }
      if ('error' in outcome) {
        keep(memory, joined.agreed, dryRun);
        await report.fail(joined.session_id, outcome.error);
        lastStatus = await reportInWords(outcome.error, context);
        continue;
      }
      keep(memory, outcome.synced.agreed, dryRun);
      if (outcome.synced.agreedFork !== undefined && !dryRun) memory.addFork(outcome.synced.agreedFork);
      const isTold = made.has(joined.session_id) && isCopied(outcome.synced);
      if (!isTold) await report.add(joined.session_id, outcome.synced);
    }
    if (!dryRun) memory.flush();
  };
  try {
    const agreements = () => (input.forgets ? noAgreements() : memory.agreements());
    await runInOrder<JoinedSession, Outcome | null>(joinedSessions(sides, agreements), {
      concurrency: syncedAtOnce,
      window: { items: 64 * syncedAtOnce },
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

function keep(memory: SyncMemory, agreed: Agreement | null, dryRun: boolean): void {
  if (agreed !== null && !dryRun) memory.add(agreed);
}

function isCopied({ status }: Synced): boolean {
  return status === 'pushed' || status === 'pulled' || status === 'unchanged';
}

async function* noAgreements(): AsyncGenerator<Agreement, void> {}

/** A failure that only this session has: the others go on. */
function isOwnFailure(error: ParleyError, sides: Readonly<Record<SideName, Side>>): boolean {
  if (sides.local.gaveUpOn(error) || sides.remote.gaveUpOn(error)) return false;
  const codes = ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'INTERNAL_ERROR', 'PAYLOAD_TOO_LARGE', 'BAD_RESPONSE'];
  return error.kind === 'input' || codes.includes(error.code);
}
