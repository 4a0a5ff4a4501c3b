// Runs the calls of a store on the lines of a session: another reply, undo, redo, forks. session-store.ts describes each.
import type {
  Fork,
  ForkEnd,
  IdempotencyKey,
  RegenerationStart,
  TurnBegin,
  TurnMove,
  TurnMoveEnd,
} from '../session-store.ts';
import type { TurnWaiters } from '../turn-waiters.ts';
import { FairQueue } from './fair-queue.ts';
import { ForkCopy, isLongFork } from './forks.ts';
import { type StepTools, toolsNow } from './idempotency.ts';
import { beginRegeneration } from './repeated-turns.ts';
import { openSnapshot } from './snapshot.ts';
import { removeAbandoned } from './staged-session.ts';
import { atOnce } from './steps.ts';
import type { StoreAccess } from './store-access.ts';
import { redoTurn, undoTurn } from './turn-moves.ts';

/** The most long forks at the same time. Each holds a snapshot. The projects take turns. */
const maxForks = 4;

interface WaitingFork {
  readonly party: string;
  readonly start: () => void;
}

export class StoreLines {
  readonly #access: StoreAccess;
  readonly #tools: StepTools;
  readonly #turnWaiters: TurnWaiters;
  readonly #waitingForks = new FairQueue<WaitingFork>();
  #forks = 0;

  constructor(access: StoreAccess, tools: StepTools, turnWaiters: TurnWaiters) {
    this.#access = access;
    this.#tools = tools;
    this.#turnWaiters = turnWaiters;
  }

  beginRegeneration(projectId: string, start: RegenerationStart, signal?: AbortSignal): Promise<TurnBegin> {
    return this.#access.write(
      projectId,
      () => beginRegeneration(toolsNow(this.#tools), projectId, start),
      signal,
    );
  }

  async undoTurn(projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd> {
    const end = await this.#access.write(
      projectId,
      () => undoTurn(toolsNow(this.#tools), projectId, move),
      signal,
    );
    // An abandoned turn has ended.
    this.#turnWaiters.wake(move.session_id);
    return end;
  }

  redoTurn(projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd> {
    return this.#access.write(projectId, () => redoTurn(toolsNow(this.#tools), projectId, move), signal);
  }

  async forkSession(projectId: string, fork: Fork, idempotencyKey: IdempotencyKey | null): Promise<ForkEnd> {
    const { connection } = this.#access;
    const copy = () => new ForkCopy(this.#tools, { projectId, fork, idempotencyKey });
    const isLong = await this.#access.read(() => isLongFork(connection, projectId, fork));
    if (!isLong) return this.#access.write(projectId, () => atOnce(copy().steps(connection)));
    await this.#enter(projectId);
    try {
      return await this.#access.runToEnd(() => this.#inParts(projectId, copy()));
    } finally {
      this.#forks -= 1;
      this.#waitingForks.take()?.start();
    }
  }

  async #inParts(projectId: string, copy: ForkCopy): Promise<ForkEnd> {
    const { connection, writer, wait } = this.#access;
    await removeAbandoned(this.#access, this.#tools.clocks().clock);
    // A store that is open alone has no other connection; then no other call runs in between.
    if (connection.isExclusive) return writer.writeAlone(() => atOnce(copy.steps(connection)), projectId);
    const snapshot = await openSnapshot(connection, wait);
    try {
      return await writer.writeInParts(copy.steps(snapshot), projectId);
    } catch (error) {
      await writer.writeInParts(copy.discard(), projectId).catch(() => {});
      throw error;
    } finally {
      snapshot.close();
    }
  }

  #enter(party: string): Promise<void> {
    return new Promise((resolve) => {
      const start = () => {
        this.#forks += 1;
        resolve();
      };
      if (this.#forks < maxForks) start();
      else this.#waitingForks.add({ party, start });
    });
  }
}
