// Plans the redaction of one session: the secrets of all its texts, or the whole text of some messages.
import type { Message } from '../../service/session.ts';
import type { SessionChanges, SessionRecord } from '../../service/session-archive.ts';
import { redactionMark } from './found-secrets.ts';
import { Redaction } from './redacted-record.ts';

export interface TextChange {
  readonly message_id: string;
  readonly was: string;
  readonly content: string;
}

export interface SessionRedactionPlan {
  readonly messages: readonly TextChange[];
  readonly changes: SessionChanges;
  /** The distinct texts to remove. */
  readonly values: ReadonlySet<string>;
  /** `2 jwt, 1 card_number`. */
  readonly summary: string;
}

const wholeMessage = redactionMark('message');

export function planOfSecrets(record: SessionRecord): SessionRedactionPlan {
  const redaction = new Redaction();
  const { session, messages, hidden_messages = [] } = redaction.record(record);
  const before = [...record.messages, ...(record.hidden_messages ?? [])];
  return {
    messages: changed(before, [...messages, ...hidden_messages]),
    changes: changesOf(record, session),
    values: redaction.values,
    summary: redaction.summary,
  };
}

/** `isSelected` selects the messages. A title that was derived from one of them is removed, too. */
export function planOfMessages(
  record: SessionRecord,
  isSelected: (message: Message) => boolean,
): SessionRedactionPlan {
  const before = [...record.messages, ...(record.hidden_messages ?? [])].filter(isSelected);
  const after = before.map((message) => ({ ...message, content: wholeMessage }));
  const { title } = record.session;
  const isOfMessage = title !== null && before.some(({ content }) => content.trim().startsWith(title));
  return {
    messages: changed(before, after),
    changes: isOfMessage ? { title: wholeMessage } : {},
    values: new Set(before.map(({ content }) => content).filter((content) => content !== wholeMessage)),
    summary: '',
  };
}

export function hasNoChanges({ messages, changes }: SessionRedactionPlan): boolean {
  return messages.length === 0 && Object.keys(changes).length === 0;
}

function changed(before: readonly Message[], after: readonly Message[]): readonly TextChange[] {
  return before.flatMap(({ message_id, content: was }, index) => {
    const content = after[index]?.content ?? was;
    return content === was ? [] : [{ message_id, was, content }];
  });
}

function changesOf(
  { session: before }: SessionRecord,
  { title, system, parameters }: SessionRecord['session'],
): SessionChanges {
  const isOther = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  return {
    ...(isOther(before.title, title) && { title }),
    ...(system !== undefined && isOther(before.system, system) && { system }),
    ...(parameters !== undefined && isOther(before.parameters, parameters) && { parameters }),
  };
}
