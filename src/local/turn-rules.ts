// The rules of a turn. They use no database and no clock: from the stored state they decide what is written. A store asks them inside its
// own transaction, so every store decides alike.
import { isCut } from '../service/session.ts';
import type { StandingTurn, TurnRules } from '../store/store-rules.ts';

export const turnRules: TurnRules = {
  begin(standing, deadOwner) {
    if (standing === null) return 'take';
    if (isRunning(standing, deadOwner)) return 'busy';
    return standing.hasReply ? 'take' : 'close and take';
  },

  repeat(own, standing, deadOwner) {
    if (own.isUndone === true) return 'answered';
    if (own.reply !== null && !isCut(own.reply)) return 'answered';
    if (standing === null) return 'take';
    if (isRunning(standing, deadOwner)) return 'busy';
    // The message of this turn needs no reply before it is asked again.
    return standing.position === own.position || standing.hasReply ? 'take' : 'close and take';
  },

  end({ isHeld, isRunning: runs, reply: standing }, reply) {
    if (standing === null) return isHeld ? 'add' : 'lost';
    // The reply is stored already: the caller repeats a call whose answer was lost.
    if (standing.message_id === reply.message_id) return 'stands';
    // A whole reply stays visible until another whole one comes: a regeneration that fails takes nothing away.
    if (isHeld) return !isCut(standing) && isCut(reply) ? 'alternative' : 'replace';
    if (!isCut(standing)) return 'lost';
    // This is a late reply. If another call runs the turn now, that call writes the reply. Otherwise a whole reply is better than a cut
    // one, and a longer part is better than its beginning.
    if (runs) return 'lost';
    return !isCut(reply) || reply.content.startsWith(standing.content) ? 'replace' : 'lost';
  },

  forkThrough(messageCount, through) {
    // Replies have odd positions.
    const last = messageCount - 1 - (messageCount % 2);
    if (through === null) return last < 0 ? null : last;
    return through % 2 === 1 && through <= last ? through : null;
  },
};

/** A turn whose owner is this process may still run, because one process can hold two chats. */
function isRunning(standing: StandingTurn, deadOwner: string | null): boolean {
  return !standing.isLeaseOver && standing.owner !== deadOwner;
}
