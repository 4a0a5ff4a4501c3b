// The calls that leave the visible line of a session: other replies, undo, redo, forks. They are sent one by one, not in groups.
import type {
  Fork,
  ForkEnd,
  IdempotencyKey,
  RegenerationStart,
  TurnMove,
  TurnMoveEnd,
} from '../session-store.ts';
import type { Ask } from './connection-pool.ts';
import { forkSession } from './forks.ts';
import { doOnceIfDone, type IdempotencyTools } from './idempotency.ts';
import { accepted } from './keys.ts';
import type { OrphanedTurns } from './orphaned-turns.ts';
import { beginRegeneration } from './regenerations.ts';
import type { SearchIndex } from './search-index.ts';
import type { Sweeps } from './sweeps.ts';
import { redoTurn, undoTurn } from './turn-moves.ts';

export class StoreLines {
  readonly #tools: IdempotencyTools;
  readonly #server: string | null;
  readonly #orphanedTurns: OrphanedTurns | null;
  readonly #sweeps: Sweeps;
  readonly #searchIndex: SearchIndex;

  /** `server`: the owner of the turns of this process if it serves, otherwise null. */
  constructor(
    tools: IdempotencyTools,
    server: string | null,
    orphanedTurns: OrphanedTurns | null,
    sweeps: Sweeps,
    searchIndex: SearchIndex,
  ) {
    this.#tools = tools;
    this.#server = server;
    this.#orphanedTurns = orphanedTurns;
    this.#sweeps = sweeps;
    this.#searchIndex = searchIndex;
  }

  async begin(projectId: string, start: RegenerationStart, signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#sweeps.sweep(start.idempotencyKey);
    const begin = beginRegeneration(this.#tools, projectId, start);
    return accepted(await (this.#orphanedTurns?.followBegin(projectId, start, begin) ?? begin));
  }

  undo(projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd> {
    return this.#move(projectId, move, undoTurn, signal);
  }

  redo(projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd> {
    return this.#move(projectId, move, redoTurn, signal);
  }

  async #move(
    projectId: string,
    move: TurnMove,
    work: typeof undoTurn,
    signal?: AbortSignal,
  ): Promise<TurnMoveEnd> {
    signal?.throwIfAborted();
    const options = { rules: this.#tools.rules.turns, projectId, move, server: this.#server };
    this.#sweeps.sweep(move.idempotencyKey);
    const end = await doOnceIfDone(this.#tools, projectId, move.idempotencyKey, (ask) => work(ask, options));
    this.#searchIndex.keepUp(2);
    return end;
  }

  async fork(projectId: string, fork: Fork, idempotencyKey: IdempotencyKey | null): Promise<ForkEnd> {
    this.#sweeps.sweep(idempotencyKey);
    const work = (ask: Ask) => forkSession(ask, this.#tools.rules.turns, projectId, fork);
    const end = await doOnceIfDone(this.#tools, projectId, idempotencyKey, work);
    if (end.kind === 'done') this.#searchIndex.keepUp(end.value.message_count);
    return end;
  }
}
