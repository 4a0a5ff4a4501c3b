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

/** `server`: the owner of the turns of this process if it serves, otherwise null. */
export function storeLines(
  tools: IdempotencyTools,
  server: string | null,
  orphanedTurns: OrphanedTurns | null,
  sweeps: Sweeps,
  searchIndex: SearchIndex,
) {
  const rules = tools.rules.turns;
  const move =
    (work: typeof undoTurn) =>
    async (projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd> => {
      signal?.throwIfAborted();
      sweeps.sweep(move.idempotencyKey);
      const end = await doOnceIfDone(tools, projectId, move.idempotencyKey, (ask) =>
        work(ask, { rules, projectId, move, server }),
      );
      searchIndex.keepUp(2);
      return end;
    };
  return {
    async begin(projectId: string, start: RegenerationStart, signal?: AbortSignal) {
      signal?.throwIfAborted();
      sweeps.sweep(start.idempotencyKey);
      const begin = beginRegeneration(tools, projectId, start);
      return accepted(await (orphanedTurns?.followBegin(projectId, start, begin) ?? begin));
    },
    undo: move(undoTurn),
    redo: move(redoTurn),
    async fork(projectId: string, fork: Fork, idempotencyKey: IdempotencyKey | null): Promise<ForkEnd> {
      sweeps.sweep(idempotencyKey);
      const copy = (ask: Ask) => forkSession(ask, rules, projectId, fork);
      const end =
        idempotencyKey === null
          ? await tools.connections.transaction(copy)
          : await doOnceIfDone(tools, projectId, idempotencyKey, copy);
      if (end.kind === 'done') searchIndex.keepUp(end.value.message_count);
      return end;
    },
  };
}
