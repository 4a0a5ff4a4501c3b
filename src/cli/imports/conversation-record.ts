// Turns one branch of a conversation into the record of a session for the archive. The archive requires that the user speaks first, that roles
// alternate, and that every message has a time and a mode; docs/import.md says how missing values are filled.
import { hash } from 'node:crypto';
import type { Message, Role } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { derivedSessionId } from '../derived-session-id.ts';
import type { Branch, ForeignConversation, ForeignMessage } from './conversation.ts';
import { messageText } from './message-text.ts';
import type { SourceName } from './source.ts';

interface RecordOptions {
  readonly source: SourceName;
  /** The time of a conversation without times, in epoch milliseconds. */
  readonly fallbackTime: number;
  readonly messagesOnly: boolean;
}

/** Consecutive messages of one role, which become one message in the archive. */
interface MergedMessage {
  readonly role: Role;
  readonly first: ForeignMessage;
  readonly place: number;
  last: ForeignMessage;
  lastPlace: number;
  text: string;
  model: string | null;
}

const titleCharacters = 200;
const automaticTitleCharacters = 60;
const modeCharacters = 100;
/** The user's message if a conversation starts with a reply. */
const noMessage = '[no message]';

/** Null for a branch without text. The id is that of {@link sessionIdOf} with `fork` 0. */
export function recordOf(
  conversation: ForeignConversation,
  branch: Branch,
  options: RecordOptions,
): SessionRecord | null {
  const merged = mergeMessages(branch.messages, options.messagesOnly);
  if (merged.length === 0) return null;
  const { source, fallbackTime } = options;
  const names = new Set<string>();
  const firstTime = merged.find(({ first }) => first.time !== null)?.first.time ?? null;
  const created = conversation.created ?? firstTime ?? fallbackTime;
  let time = created;
  let updated = created;
  const messages: Message[] = [];
  const modes = modesOf(merged, source);
  for (const [position, { role, first, last, text, place }] of merged.entries()) {
    time = first.time ?? time;
    updated = Math.max(updated, time);
    const isReply = role === 'assistant';
    const name = first.id === null || names.has(first.id) ? `#${place}` : first.id;
    names.add(name);
    messages.push({
      message_id: messageId(source, conversation.id, name),
      position,
      role,
      content: text,
      mode: modes[position] ?? source,
      finish_reason: isReply ? (last.finish ?? 'stop') : null,
      usage: null,
      created_at: new Date(time).toISOString(),
    });
  }
  const forkedAt = merged.filter(({ lastPlace }) => lastPlace < branch.shared).length - 1;
  const parent = branch.parent !== null && forkedAt >= 0 ? branch.parent : null;
  const session = {
    session_id: sessionIdOf(source, conversation.id, branch.key, 0),
    title: titleOf(conversation.title, messages),
    created_at: new Date(Math.min(created, updated)).toISOString(),
    updated_at: new Date(updated).toISOString(),
    message_count: messages.length,
    ...(conversation.user != null && { user: conversation.user }),
    ...(conversation.system !== null && {
      system: conversation.system.toWellFormed().replaceAll('\0', '\ufffd'),
    }),
    ...(parent !== null && {
      parent_id: sessionIdOf(source, conversation.id, parent, 0),
      forked_at: forkedAt,
    }),
  };
  return { session, messages };
}

/** The same conversation gets the same ids at every import. `fork` numbers the sessions that diverged. */
export function sessionIdOf(source: SourceName, conversation: string, branch: string, fork: number): string {
  return derivedSessionId(JSON.stringify([source, conversation, branch, fork]));
}

/** The id shows the origin of the message: `chatgpt/CONVERSATION/MESSAGE`. */
function messageId(source: SourceName, conversation: string, message: string): string {
  const id = `${source}/${conversation}/${message}`;
  if (/^[\x21-\x7e]{1,255}$/.test(id)) return id;
  return `${source}/${hash('sha256', id)}`;
}

function mergeMessages(messages: readonly ForeignMessage[], messagesOnly: boolean): readonly MergedMessage[] {
  const merged: MergedMessage[] = [];
  for (const [place, message] of messages.entries()) {
    const text = messageText(message.parts, messagesOnly);
    if (text.trim() === '') continue;
    const { role, model } = message;
    const before = merged.at(-1);
    if (before?.role === role) {
      before.text += `\n\n${text}`;
      before.last = message;
      before.lastPlace = place;
      before.model ??= model;
      continue;
    }
    if (before === undefined && role === 'assistant') {
      const first: ForeignMessage = { ...message, id: '#0', role: 'user', model: null, finish: null };
      merged.push({ role: 'user', model: null, text: noMessage, first, place: 0, last: first, lastPlace: 0 });
    }
    merged.push({ role, model, text, first: message, place: place + 1, last: message, lastPlace: place });
  }
  return merged;
}

/** A message has the mode of its turn: the model of its reply, else the last model before it, else the name of the source. */
function modesOf(merged: readonly MergedMessage[], source: SourceName): readonly string[] {
  const modes: string[] = [];
  let mode: string = source;
  for (const [position, { role, model }] of merged.entries()) {
    const own = role === 'assistant' ? model : (merged[position + 1]?.model ?? model);
    if (own !== null) mode = cut(own, modeCharacters) || source;
    modes.push(mode);
  }
  return modes;
}

/** A conversation without a title gets the same title as a chat: the first line of its first message. */
function titleOf(title: string | null, messages: readonly Message[]): string | null {
  if (title !== null) return cut(title, titleCharacters) || null;
  const [first = ''] = (messages[0]?.content ?? '').trim().split('\n', 1);
  return first === noMessage ? null : cut(first, automaticTitleCharacters) || null;
}

function cut(text: string, maxLength: number): string {
  const characters = [
    ...text
      .slice(0, 4 * maxLength)
      .toWellFormed()
      .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
      .trim(),
  ];
  return characters.length <= maxLength
    ? characters.join('')
    : `${characters.slice(0, maxLength - 1).join('')}…`;
}
