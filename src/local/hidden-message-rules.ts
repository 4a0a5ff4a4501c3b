// The rules for the hidden messages of an imported session: each must be one that this service could have hidden. The fields of each message
// are checked before.
import type { Message } from '../service/session.ts';

/** The first hidden message that contradicts the others, and what is wrong with it. */
interface HiddenFault {
  readonly index: number;
  readonly field: keyof Message;
  readonly problem: string;
}

const keyOf = ({ position, message_id }: Pick<Message, 'position' | 'message_id'>) =>
  `${position}/${message_id}`;

/** Null if the hidden messages agree with each other and with the visible line. */
export function faultOfHidden(messages: readonly Message[], hidden: readonly Message[]): HiddenFault | null {
  const undone = hidden.filter(({ undone_at }) => undone_at !== undefined);
  const userMessages = new Set([...messages, ...undone].filter(({ role }) => role === 'user').map(keyOf));
  const places = new Set([...messages, ...undone].map(({ position }) => position));
  const turns = new Map<string, Message[]>();
  for (const message of undone) {
    const turn = turns.get(message.undone_at ?? '');
    if (turn === undefined) turns.set(message.undone_at ?? '', [message]);
    else turn.push(message);
  }
  for (const [index, message] of hidden.entries()) {
    const fault = faultOf(message);
    if (fault !== null) return { index, ...fault };
  }
  return null;

  function faultOf(message: Message): Omit<HiddenFault, 'index'> | null {
    const { alternative_of, undone_at, position, role } = message;
    if ((alternative_of === undefined) === (undone_at === undefined))
      return { field: 'alternative_of', problem: 'must be given without undone_at, or undone_at without it' };
    if (alternative_of !== undefined) {
      const isAsked =
        role === 'assistant' &&
        userMessages.has(keyOf({ position: position - 1, message_id: alternative_of }));
      return isAsked ? null : { field: 'alternative_of', problem: 'must be the id of the message before it' };
    }
    const turn = turns.get(undone_at ?? '') ?? [];
    const first = role === 'user' ? position : position - 1;
    if (turn.length !== 2 || turn.some((one) => one.position !== first && one.position !== first + 1))
      return { field: 'undone_at', problem: 'must be that of a message and its reply, and of no other' };
    // A turn was undone as the last of its session, so every turn before it is in the record too.
    return first === 0 || places.has(first - 1)
      ? null
      : { field: 'position', problem: 'follows a turn that is missing' };
  }
}
