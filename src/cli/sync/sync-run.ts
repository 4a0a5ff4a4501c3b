// Runs `parley sync`: joins the sessions of both sides, and brings each to the same state on both.
import { setMaxListeners } from 'node:events';
import { requireProfile } from '../../config/profiles.ts';
import { ParleyError } from '../../service/errors.ts';
import { runInOrder } from '../batch/ordered-run.ts';
import { requireTags } from '../commands/sessions/required-tags.ts';
import type { CliContext } from '../context.ts';
import { exitDone, exitSomeFailed, exitStatusOf } from '../exit-codes.ts';
import type { Agreement } from './agreement.ts';
import { joinedSessions } from './joined-sessions.ts';
import { type SyncResult, syncSession } from './session-sync.ts';
import { Side, syncConcurrency } from './side.ts';
import type { SideName } from './side-name.ts';
import { SyncMemory } from './sync-memory.ts';
import type { JoinedSession } from './sync-plan.ts';
import { SyncReport } from './sync-report.ts';
import { targetsKey } from './sync-targets.ts';

export interface SyncFlags {
  readonly push?: true;
  readonly pull?: true;
  /** Only sessions with one of these tags. */
  readonly tag?: readonly string[];
  readonly dryRun?: true;
  /** Ignores all earlier syncs. */
  readonly forget?: true;
  /** Prints a result line for each session, even at a terminal. */
  readonly verbose?: true;
}

type Outcome = { readonly joined: JoinedSession } & (
  | { readonly synced: SyncResult }
  | { readonly isUnselected: true }
  | { readonly error: ParleyError }
);

/** `profile` is that of the other side. */
export async function syncTargets(profile: string, flags: SyncFlags, context: CliContext): Promise<number> {
  requireProfile(context.host.profileFile.read(), profile, null);
  const remote = context.withOptions({ profile, url: null, store: null });
  try {
    const key = await targetsKey(context, remote);
    await requireTags(flags.tag ?? [], context);
    const { dataDirectory, locks } = context.host;
    const memory = await SyncMemory.open(dataDirectory, key, {
      locks,
      forgets: flags.forget === true && !flags.dryRun,
    });
    try {
      return await syncAll(flags, { local: context, remote }, memory);
    } finally {
      memory.close();
    }
  } finally {
    await remote.close();
  }
}

async function syncAll(
  flags: SyncFlags,
  contexts: Readonly<Record<SideName, CliContext>>,
  memory: SyncMemory,
): Promise<number> {
  const { local: context } = contexts;
  const fatal = new AbortController();
  const signal = AbortSignal.any([context.stopSignal, fatal.signal]);
  // Each running call adds a listener.
  setMaxListeners(0, signal);
  const giveUp = (error: unknown) => fatal.abort(error);
  const report = new SyncReport(context, flags);
  const sideOf = (name: SideName) =>
    new Side(name, contexts[name].withSignal(signal), {
      giveUp,
      signal,
      random: context.host.random,
      say: (line) => void report.say(line),
    });
  const sides = { local: sideOf('local'), remote: sideOf('remote') };
  const run = new SyncRun({ flags, sides, memory, report });
  try {
    await runInOrder<JoinedSession, Outcome | null>(
      joinedSessions(sides, () => run.agreements()),
      {
        concurrency: syncConcurrency,
        window: { items: 64 * syncConcurrency },
        signal,
        run: (joined) =>
          run.sync(joined).catch((error: unknown) => {
            giveUp(error);
            return null;
          }),
        write: (outcomes) => run.write(outcomes.filter((outcome) => outcome !== null)),
      },
    );
    signal.throwIfAborted();
    if (!flags.dryRun) await memory.finish();
  } finally {
    report.stop();
  }
  await report.end();
  if (report.failed === 0) return exitDone;
  return report.finished === 1 ? run.lastStatus : exitSomeFailed;
}

interface SyncRunOptions {
  readonly flags: SyncFlags;
  readonly sides: Readonly<Record<SideName, Side>>;
  readonly memory: SyncMemory;
  readonly report: SyncReport;
}

class SyncRun {
  readonly #options: SyncRunOptions;
  /** The forks that this sync created. They may appear in a listing later. */
  readonly #forks = new Set<string>();
  #lastStatus = 0;

  constructor(options: SyncRunOptions) {
    this.#options = options;
  }

  /** The exit status of the last failure. */
  get lastStatus(): number {
    return this.#lastStatus;
  }

  /** The agreements of earlier syncs; none if they are to be forgotten. */
  async *agreements(): AsyncGenerator<Agreement, void> {
    const { flags, memory } = this.#options;
    if (!flags.forget) yield* memory.agreements();
  }

  /** Syncs a session. Throws a failure that would affect the others, too. */
  async sync(joined: JoinedSession): Promise<Outcome> {
    const { sides, flags } = this.#options;
    const { push, pull, dryRun = false, tag = [] } = flags;
    if (!isSelected(joined, tag)) return { joined, isUnselected: true };
    const writes: SideName[] = [];
    if (!push) writes.push('local');
    if (!pull) writes.push('remote');
    try {
      const synced = await syncSession(joined, { sides, writes, dryRun });
      if (synced.forkAgreement !== undefined) this.#forks.add(synced.forkAgreement.session_id);
      return { joined, synced };
    } catch (error) {
      if (error instanceof ParleyError && isOwnFailure(error, sides)) return { joined, error };
      throw error;
    }
  }

  /** Reports the outcomes, and remembers their agreements. */
  async write(outcomes: readonly Outcome[]): Promise<void> {
    const { report, memory, flags } = this.#options;
    for (const outcome of outcomes) {
      const { joined } = outcome;
      this.#remember('synced' in outcome ? outcome.synced.agreed : joined.agreed);
      if ('isUnselected' in outcome) report.skipUnselected();
      else if ('error' in outcome) {
        await report.fail(joined.session_id, outcome.error);
        this.#lastStatus = exitStatusOf(outcome.error.code);
      } else await this.#writeSynced(joined, outcome.synced);
    }
    if (!flags.dryRun) memory.flush();
  }

  async #writeSynced({ session_id }: JoinedSession, synced: SyncResult): Promise<void> {
    const { report, memory, flags } = this.#options;
    if (synced.forkAgreement !== undefined && !flags.dryRun) memory.addFork(synced.forkAgreement);
    const isReported = this.#forks.has(session_id) && isCopied(synced);
    if (!isReported) await report.add(session_id, synced);
  }

  #remember(agreed: Agreement | null): void {
    const { memory, flags } = this.#options;
    if (agreed !== null && !flags.dryRun) memory.add(agreed);
  }
}

function isCopied({ status }: SyncResult): boolean {
  return status === 'pushed' || status === 'pulled' || status === 'unchanged';
}

/** True for a failure of this session only. The others continue. */
function isOwnFailure(error: ParleyError, sides: Readonly<Record<SideName, Side>>): boolean {
  if (sides.local.isFatal(error) || sides.remote.isFatal(error)) return false;
  const codes = ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'INTERNAL_ERROR', 'PAYLOAD_TOO_LARGE', 'BAD_RESPONSE'];
  return error.kind === 'input' || codes.includes(error.code);
}

/**
 * True for a session that has one of the tags on either side, even a deleted one: the removal of a tag still reaches the other side, and a
 * session that lost its tag on one side does not count as missing there. No tags select every session.
 */
function isSelected({ states }: JoinedSession, tags: readonly string[]): boolean {
  if (tags.length === 0) return true;
  return [states.local, states.remote].some(
    (state) => state.kind !== 'none' && state.session.tags.some((tag) => tags.includes(tag)),
  );
}
