// Merges the two records of a session. The result does not depend on the order of stores and syncs, so any number of stores converge. Records
// have a rank: more messages, then the later activity, then the greater hash. The higher one stays in the session. If the other one has
// messages that the higher one lacks, it becomes a new session, whose id is derived from its messages.
import { createHash } from 'node:crypto';
import type { Message, Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { derivedSessionId } from '../derived-session-id.ts';
import { hasRedaction, isRedactionOf } from '../secrets/redacted-text.ts';
import {
  type Agreement,
  agreedHash,
  type ChosenField,
  chosenFields,
  fieldHash,
  sortedJson,
} from './agreement.ts';
import type { SideName } from './side-name.ts';

/** A record as a store returns it. */
export interface StoredRecord extends SessionRecord {
  readonly session: Session;
}

export interface MergeResult {
  /** What each side will have. They differ only in texts that one side has redacted, which a sync neither brings back nor removes. */
  readonly goals: Readonly<Record<SideName, StoredRecord>>;
  /** The new session for the lower record if the goals lack some of its messages, and the side that has it. */
  readonly fork: { readonly side: SideName; readonly record: StoredRecord } | null;
}

export function mergeRecords(
  local: StoredRecord,
  remote: StoredRecord,
  agreed: Agreement | null,
): MergeResult {
  const isLocalHigher = compareRanks(local, remote) >= 0;
  const [higher, lower] = isLocalHigher ? [local, remote] : [remote, local];
  const chosen = Object.fromEntries(
    chosenFields.map((field) => [field, mergeField(field, local.session, remote.session, agreed)]),
  );
  const goal = { ...higher, session: { ...higher.session, ...chosen } };
  const goals = { local: withTextsOf(local, goal), remote: withTextsOf(remote, goal) };
  if (containsAll(higher, lower)) return { goals, fork: null };
  const fork = withTextsOf(higher, forkOf(lower, higher), true);
  return { goals, fork: { side: isLocalHigher ? 'remote' : 'local', record: fork } };
}

/** The record with the texts of a side for the messages that were redacted on one side; with `onlyRedacted`, if that side redacted them. */
function withTextsOf(side: SessionRecord, record: StoredRecord, onlyRedacted = false): StoredRecord {
  const textsById = new Map(everyMessage(side).map(({ message_id, content }) => [message_id, content]));
  const withText = (message: Message): Message => {
    const content = textsById.get(message.message_id) ?? message.content;
    if (content === message.content) return message;
    const isKept =
      isRedactionOf(content, message.content) || (!onlyRedacted && isRedactionOf(message.content, content));
    return isKept ? { ...message, content } : message;
  };
  const { messages, hidden_messages } = record;
  return {
    ...record,
    messages: messages.map(withText),
    ...(hidden_messages !== undefined && { hidden_messages: hidden_messages.map(withText) }),
  };
}

/** True if the two are equal in every field. */
export function isSameRecord(one: StoredRecord, other: StoredRecord): boolean {
  return (
    sortedJson(one.session) === sortedJson(other.session) && textOfMessages(one) === textOfMessages(other)
  );
}

export function hasSameMessages(one: StoredRecord, other: StoredRecord): boolean {
  return textOfMessages(one) === textOfMessages(other);
}

/**
 * The value of the side that has changed the field since the agreement. If both have, or there is no agreement, the greater value wins, and any
 * value wins over none.
 */
function mergeField(
  field: ChosenField,
  local: Session,
  remote: Session,
  agreed: Agreement | null,
): Session[ChosenField] {
  const before = agreed === null ? undefined : agreedHash(agreed, field);
  if (before !== undefined && fieldHash(local, field) === before) return remote[field];
  if (before !== undefined && fieldHash(remote, field) === before) return local[field];
  return weight(local[field]) >= weight(remote[field]) ? local[field] : remote[field];
}

/** Empty tags and parameters count as no value, like a missing title. A value from which secrets were removed is greater than any other. */
function weight(value: unknown): string {
  const isNone = value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  if (isNone) return '';
  const json = sortedJson(value);
  return hasRedaction(json) ? `\uffff${json}` : json;
}

function everyMessage({ messages, hidden_messages = [] }: SessionRecord): readonly Message[] {
  return [...messages, ...hidden_messages];
}

function compareRanks(one: StoredRecord, other: StoredRecord): number {
  const byCount = everyMessage(one).length - everyMessage(other).length;
  if (byCount !== 0) return byCount;
  const byTime = Date.parse(one.session.updated_at) - Date.parse(other.session.updated_at);
  if (byTime !== 0) return byTime;
  const [hash, otherHash] = [rankText(one), rankText(other)];
  if (hash === otherHash) return 0;
  return hash < otherHash ? -1 : 1;
}

function rankText(record: StoredRecord): string {
  const { mode, parent_id, forked_at } = record.session;
  return createHash('sha256')
    .update(sortedJson([mode, parent_id, forked_at]))
    .update(textOfMessages(record))
    .digest('hex');
}

function containsAll(higher: SessionRecord, lower: SessionRecord): boolean {
  const higherById = new Map(everyMessage(higher).map((message) => [message.message_id, message]));
  return everyMessage(lower).every(({ message_id, position, role, content }) => {
    const other = higherById.get(message_id);
    return other?.position === position && other.role === role && isSameText(other.content, content);
  });
}

/** True for equal texts, and for a text that was redacted on one side. */
function isSameText(one: string, other: string): boolean {
  return isRedactionOf(one, other) || isRedactionOf(other, one);
}

/** The messages in a canonical order. */
function textOfMessages({ messages, hidden_messages = [] }: SessionRecord): string {
  const place = ({ position, message_id }: Message) => `${String(position).padStart(9, '0')} ${message_id}`;
  const hidden = hidden_messages.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
  return sortedJson([messages, hidden]);
}

/** Its creation time is later than the shared messages, so that these count as copies and not as usage. */
function forkOf(lower: StoredRecord, higher: StoredRecord): StoredRecord {
  const { session } = lower;
  const different = lower.messages.findIndex(
    ({ message_id }, at) => higher.messages[at]?.message_id !== message_id,
  );
  const shared = different === -1 ? lower.messages.length : different;
  const parent = shared > 0 ? { parent_id: session.session_id, forked_at: shared - 1 } : {};
  return {
    ...lower,
    session: { ...session, session_id: forkId(lower), created_at: session.updated_at, ...parent },
  };
}

function forkId(record: StoredRecord): string {
  return derivedSessionId(sortedJson(['fork', record.session.session_id, textOfMessages(record)]));
}
