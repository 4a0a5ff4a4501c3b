// The possible states of a session after the process was killed in the middle of an operation: unchanged, or changed as far as the operation went.
import type { ModelReply, ModelSession } from '../local/lines-model.ts';

export type KilledKind = 'chat' | 'regenerate' | 'undo' | 'redo' | 'delete';

export interface Progress {
  /** True: the engine was asked, or the service has said that the turn began. */
  readonly isBegun: boolean;
  /** True: the operation was acknowledged. */
  readonly isDone: boolean;
}

/** The outcomes that are possible, as copies of the session. */
export function outcomesOf(
  kind: KilledKind,
  session: ModelSession,
  { message, key, reply }: { readonly message: string; readonly key: string; readonly reply: ModelReply },
  { isBegun, isDone }: Progress,
): readonly ModelSession[] {
  const before = session.copy();
  if (kind === 'chat') {
    const [asked, cut, answered] = [session.copy(), session.copy(), session.copy()];
    asked.ask(message, key);
    // A store that many machines share may keep a part of the reply.
    cut.answer(cut.ask(message, key), { ...reply, finish: 'interrupted' });
    answered.answer(answered.ask(message, key), reply);
    if (isDone) return [answered];
    return isBegun ? [asked, answered, cut] : [before, asked, answered, cut];
  }
  if (kind === 'regenerate') {
    const [begun, cut, answered] = [session.copy(), session.copy(), session.copy()];
    for (const other of [begun, cut, answered]) other.redoable = [];
    const [one, another] = [cut.line.at(-1), answered.line.at(-1)];
    if (one === undefined || another === undefined) return [before];
    cut.answer(one, { ...reply, finish: 'interrupted' });
    answered.answer(another, reply);
    if (isDone) return [answered];
    return isBegun ? [begun, answered, cut] : [before, begun, answered, cut];
  }
  const [closed, after] = [session.copy(), session.copy()];
  // An undo may close an abandoned turn in a write of its own.
  if (kind === 'undo') closed.close();
  if (kind === 'delete') after.isDeleted = true;
  else after[kind]();
  return isDone ? [after] : [before, closed, after];
}
