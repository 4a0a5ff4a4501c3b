// Writes a session as Markdown: a heading for each message, then its unchanged text.
import { isCut, type Message, type SessionFacts } from '../../service/session.ts';
import { counted } from '../counted.ts';
import { markOf } from './message-order.ts';

export function markdownHead(session: SessionFacts): string {
  const title = (session.title ?? 'Session').replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
  const facts = [
    `\`${session.session_id}\``,
    counted(session.message_count, 'message'),
    `last active ${session.updated_at}`,
  ];
  return `# ${title}\n\n${facts.join(' · ')}\n`;
}

export function markdownMessage(message: Message): string {
  const who = message.role === 'user' ? 'user' : `assistant (${message.mode})`;
  const marks = [markOf(message), isCut(message) ? `cut: ${message.finish_reason}` : null];
  const marked = marks.flatMap((mark) => (mark === null ? [] : [`, ${mark}`])).join('');
  const heading = `## ${who}, ${message.created_at}${marked}`;
  return `${heading}\n\n${message.content}${message.content.endsWith('\n') ? '' : '\n'}`;
}
