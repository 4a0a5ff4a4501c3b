// Ends turns, renews them, and finds out whether they run: all calls of a kind that wait at the same moment in one statement. If a reply
// is stored already, or the turn was lost, the rules of a turn decide.
import { type MessageRow, toMessage } from '../rows.ts';
import type { ReplyPart, Turn, TurnEnd, TurnReply } from '../session-store.ts';
import { byNumber, columnsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import type { IdempotencyTools } from './idempotency.ts';
import {
  type AnyTurnRow,
  anyTurn,
  endTurns as endStatement,
  renewTurns as renewStatement,
  replaceReply,
  runningTurns,
} from './turn-end-rows.ts';
import { replyAt } from './turn-rows.ts';

export interface EndCall {
  readonly projectId: string;
  readonly turn: Turn;
  readonly reply: TurnReply;
}

export interface RenewCall {
  readonly projectId: string;
  readonly turn: Turn;
  readonly leaseMs: number;
  readonly part: ReplyPart | null;
}

export interface RunningCall {
  readonly projectId: string;
  readonly turn: Pick<Turn, 'session_id' | 'epoch'>;
}

interface EndedRow {
  readonly number: number;
  readonly message_count: number;
}

export async function endTurns(
  tools: IdempotencyTools,
  calls: readonly EndCall[],
): Promise<readonly TurnEnd[]> {
  const values = columnsOf(
    calls,
    ({ projectId }) => projectId,
    ({ turn }) => turn.session_id,
    ({ turn }) => turn.owner,
    ({ turn }) => turn.epoch,
    ({ turn }) => turn.position,
    ({ reply }) => reply.message_id,
    ({ reply }) => reply.content,
    ({ reply }) => reply.mode,
    ({ reply }) => reply.finish_reason,
    ({ reply }) => reply.usage?.input_tokens ?? null,
    ({ reply }) => reply.usage?.output_tokens ?? null,
    ({ reply }) => reply.first_token_ms,
    ({ reply }) => reply.error_code,
    ({ reply }) => reply.now,
  );
  const rows = byNumber(await tools.connections.askToEnd<EndedRow>(endStatement, values));
  return Promise.all(
    calls.map((call, number) => {
      const ended = rows.get(number);
      return ended === undefined
        ? endByRules(tools, call)
        : ({ kind: 'kept', message_count: ended.message_count } as const);
    }),
  );
}

async function endByRules(tools: IdempotencyTools, call: EndCall): Promise<TurnEnd> {
  const { projectId, turn, reply } = call;
  const { askToEnd: ask } = tools.connections;
  for (;;) {
    const values = [projectId, turn.session_id, turn.position, turn.message_id, reply.message_id];
    const [row] = await ask<AnyTurnRow>(anyTurn, values);
    if (row === undefined) return { kind: 'not_found' };
    const [standingRow] = await ask<MessageRow>(replyAt, [projectId, row.id, turn.position + 1]);
    const standing = standingRow === undefined ? null : toMessage(standingRow);
    const isRunning = row.turn_owner !== null && row.turn_position === turn.position;
    const isHeld = isRunning && row.turn_owner === turn.owner && row.turn_epoch === turn.epoch;
    if (row.is_hidden && !isHeld) return { kind: 'kept', message_count: row.message_count };
    if (!row.is_asked) return { kind: 'lost', standing: null };
    const decision = tools.rules.turns.end({ isHeld, isRunning, reply: standing }, reply);
    // The state has changed: the usual statement can store the reply now.
    if (decision === 'add') return (await endTurns(tools, [call]))[0] as TurnEnd;
    const replaces = decision === 'replace';
    const isAlternative = decision === 'alternative';
    if (replaces || isAlternative || isHeld) {
      const written = await ask(replaceReply, [
        ...[projectId, row.id, row.turn_epoch, row.turn_owner, row.turn_position, row.message_count],
        ...[reply.now, isHeld, replaces ? (standing?.message_id ?? null) : null, turn.position + 1],
        ...[reply.message_id, reply.content, reply.mode, reply.finish_reason],
        ...[reply.usage?.input_tokens ?? null, reply.usage?.output_tokens ?? null],
        ...[reply.first_token_ms, reply.error_code, turn.message_id, isAlternative],
      ]);
      if (written.length === 0) continue;
    }
    if (decision === 'lost') return { kind: 'lost', standing };
    return { kind: 'kept', message_count: row.message_count };
  }
}

export async function renewTurns(ask: Ask, calls: readonly RenewCall[]): Promise<readonly boolean[]> {
  const values = columnsOf(
    calls,
    ({ projectId }) => projectId,
    ({ turn }) => turn.session_id,
    ({ turn }) => turn.owner,
    ({ turn }) => turn.epoch,
    ({ turn }) => turn.position,
    ({ leaseMs }) => leaseMs,
    ({ part }) => part?.at ?? null,
    ({ part }) => part?.message_id ?? null,
    ({ part }) => part?.mode ?? null,
    ({ part }) => part?.now ?? null,
    ({ part }) => part?.content ?? null,
  );
  const held = byNumber(await ask<{ number: number }>(renewStatement, values));
  return calls.map((_, number) => held.has(number));
}

/** `judge`: the owner of the server that asks; null for a process that does not serve. */
export async function areRunning(
  ask: Ask,
  calls: readonly RunningCall[],
  judge: string | null,
): Promise<readonly boolean[]> {
  const values = columnsOf(
    calls,
    ({ projectId }) => projectId,
    ({ turn }) => turn.session_id,
    ({ turn }) => turn.epoch,
  );
  const running = byNumber(await ask<{ number: number }>(runningTurns, [...values, judge]));
  return calls.map((_, number) => running.has(number));
}
