// The chats of Gemini CLI: one file per session below `tmp/…/chats`. It is one JSON object, or since 0.3x lines: a later line replaces an earlier
// one with the same id, and `$set` changes the session. A message that starts with a tag is from the program, not the user.
import { type ForeignMessage, type Part, singleBranch } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfText } from '../foreign-value.ts';
import { jsonValues } from '../json-lines.ts';
import { SessionSize } from '../session-size.ts';
import type { Source } from '../source.ts';

export const geminiCli: Source = {
  name: 'gemini-cli',
  title: 'Gemini CLI chat',
  recognises: ({ text }) => /^\s*\{\s*"sessionId"\s*:\s*"[^"]*",\s*"projectHash"/.test(text),
  places: ({ home }) => [
    { path: `${home}/.gemini/tmp`, pattern: /\/chats\/session-[^/]*\.jsonl?$/, keptDays: null },
  ],
  async *read(file, { signal }) {
    const messages = new Map<string, ForeignFields>();
    let session: ForeignFields = {};
    const size = new SessionSize(file.path);
    for await (const { place, value, failure, bytes = 0 } of jsonValues(file.open(signal))) {
      size.add(bytes);
      if (failure !== null) {
        yield { place, failure };
        continue;
      }
      const line = fieldsOf(value);
      const changes = fieldsOf(line['$set']);
      if (textOf(line['id']) !== null) messages.set(asText(line['id']), line);
      else session = { ...session, ...line, ...changes };
      for (const one of [...listOf(line['messages']), ...listOf(changes['messages'])])
        messages.set(asText(fieldsOf(one)['id']), fieldsOf(one));
    }
    const id = textOf(session['sessionId']);
    const imported = [...messages.values()].flatMap(messageOf);
    const place = null;
    if (id === null || imported.length === 0) yield { place, skipped: 'empty' };
    else {
      const created = timeOfText(session['startTime']);
      const title = textOf(session['summary']);
      yield { place, conversation: { id, title, created, system: null, branches: singleBranch(imported) } };
    }
  },
};

function messageOf(message: ForeignFields): readonly ForeignMessage[] {
  const { type } = message;
  if (type !== 'user' && type !== 'gemini') return [];
  const thoughts = listOf(message['thoughts']).map((one): Part => {
    const { subject, description } = fieldsOf(one);
    return {
      kind: 'thinking',
      text: [subject, description].filter((text) => textOf(text) !== null).join('\n'),
    };
  });
  const calls = listOf(message['toolCalls']).flatMap((one): readonly Part[] => {
    const call = fieldsOf(one);
    const results = listOf(call['result']).map(
      (result) => fieldsOf(fieldsOf(fieldsOf(result)['functionResponse'])['response'])['output'],
    );
    const text = results
      .map(asText)
      .filter((output) => output !== '')
      .join('\n');
    const callPart: Part = { kind: 'tool', name: asText(call['name']), input: asText(call['args']) };
    return text === '' ? [callPart] : [callPart, { kind: 'result', name: null, text }];
  });
  const parts = [...thoughts, ...calls, ...textsOf(message['content'], type === 'user')];
  if (parts.length === 0) return [];
  return [
    {
      id: textOf(message['id']),
      role: type === 'user' ? 'user' : 'assistant',
      finish: null,
      parts,
      time: timeOfText(message['timestamp']),
      model: textOf(message['model']),
    },
  ];
}

/** A text, or a list of texts. Results of tools in the list are ignored, because they are already next to their calls. */
function textsOf(content: unknown, isOwn: boolean): readonly Part[] {
  const texts = typeof content === 'string' ? [content] : listOf(content).map((one) => fieldsOf(one)['text']);
  return texts.flatMap((text): readonly Part[] =>
    typeof text !== 'string' || text === '' || (isOwn && text.startsWith('<session_context>'))
      ? []
      : [{ kind: 'text', text }],
  );
}
