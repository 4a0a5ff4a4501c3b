// What `parley sessions undo` and `redo` have in common: undoing or restoring the last turn, and printing its message.
import type { Backend } from '../../../service/backend.ts';
import type { Call, WaitingSign } from '../../../service/call.ts';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import type { CliContext, Printing } from '../../context.ts';
import { rememberOrReport } from '../../remember-session.ts';
import { withSession } from '../../session-reference.ts';
import { toJson } from '../../terminal/json.ts';
import { showWaiting } from '../../terminal/progress.ts';

type Move = (archive: Backend['archive'], call: Call, id: string) => Promise<Result<MovedTurn>>;

/** `named` is an id, the end of an id, or a title. If it is the current session of this terminal, its new mode is remembered. */
export async function moveTurn(named: string, context: CliContext, move: Move): Promise<Result<MovedTurn>> {
  const waiting = showWaiting('Waiting for the session', context);
  const notice = ({ kind }: WaitingSign) => {
    if (kind === 'busy') waiting.say('Waiting for another turn of the session');
  };
  const moved = await withSession(named, context, async (id) => {
    const { backend } = await context.open();
    const call = await context.call();
    return move(backend.archive, { ...call, idempotencyKey: call.requestId, notice }, id);
  }).finally(() => waiting.stop());
  const { session_id: id, mode } = moved.data.session;
  if ((await context.currentSession())?.sessionId === id) await rememberOrReport(id, mode, context);
  return moved;
}

/** Prints the message of the turn, then a note. `note` gets the full id of the session. */
export async function printMoved(
  { data, body }: Result<MovedTurn>,
  context: Printing,
  note: (id: string) => string,
): Promise<void> {
  if (context.options.json) return context.stdout.write(`${toJson(body)}\n`);
  const { content } = data.message;
  await context.stdout.write(content.endsWith('\n') ? content : `${content}\n`);
  await context.say(note(data.session.session_id));
}
