// Writes sessions as lines of `{"messages":[…]}`, the format for training and testing models. Only visible messages are written, because the
// format has no alternatives.
import type { SessionRecord } from '../../service/session-archive.ts';
import { toJson } from '../terminal/json.ts';

export function openaiLine({ session, messages }: SessionRecord): string {
  const { session_id, title, created_at, system } = session;
  const turns = messages.map(({ role, content }) => ({ role, content }));
  const systemMessage = system == null ? [] : [{ role: 'system', content: system }];
  return `${toJson({ messages: [...systemMessage, ...turns], metadata: { session_id, title, created_at } })}\n`;
}
