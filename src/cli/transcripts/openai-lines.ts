// An export as lines of `{"messages":[…]}`, the form in which models are trained and tested. The visible line alone is written: tools of that
// form know no alternatives.
import type { SessionRecord } from '../../service/session-archive.ts';
import { toJson } from '../terminal/json.ts';

export function openaiLine({ session, messages }: SessionRecord): string {
  const { session_id, title, created_at, system } = session;
  const said = messages.map(({ role, content }) => ({ role, content }));
  const first = system == null ? [] : [{ role: 'system', content: system }];
  return `${toJson({ messages: [...first, ...said], metadata: { session_id, title, created_at } })}\n`;
}
