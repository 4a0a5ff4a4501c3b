// The chats of Gemini CLI: one file per session below `tmp/…/chats`. It is one JSON object, or since 0.3x lines: a later line replaces an earlier
// one with the same id, and `$set` changes the session (gemini-chat.ts). A text that starts with a tag is from the program, not the user.
import { branchesOf } from '../branches.ts';
import type { ForeignMessage, Part } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfText } from '../foreign-value.ts';
import { jsonValues } from '../json-lines.ts';
import { SessionSize } from '../session-size.ts';
import type { Source } from '../source.ts';
import { GeminiChat } from './gemini-chat.ts';

/** After how many days Gemini CLI deletes a chat, unless its settings say otherwise. */
const keptDays = 30;

export const geminiCli: Source = {
  name: 'gemini-cli',
  title: 'Gemini CLI chat',
  recognises: ({ text }) => /^\s*\{\s*"sessionId"\s*:\s*"[^"]*",\s*"projectHash"/.test(text),
  places: ({ home, env }) => {
    const path = `${env['GEMINI_CLI_HOME'] ?? home}/.gemini/tmp`;
    return [{ path, pattern: /\/chats\/session-[^/]*\.jsonl?$/, keptDays }];
  },
  async *read(file, { signal }) {
    const chat = new GeminiChat(messageOf);
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
      const rewindTo = textOf(line['$rewindTo']);
      if (rewindTo !== null) chat.rewindTo(rewindTo);
      else if (textOf(line['id']) !== null) chat.add(line);
      else session = { ...session, ...line, ...changes };
      for (const one of listOf(line['messages'])) chat.add(fieldsOf(one));
      if (Array.isArray(changes['messages'])) chat.replace(changes['messages']);
    }
    const id = textOf(session['sessionId']);
    const { nodes, last } = chat;
    const place = null;
    if (session['kind'] === 'subagent') yield { place, skipped: 'subagent' };
    else if (id === null || nodes.every(({ message }) => message === null)) yield { place, skipped: 'empty' };
    else {
      const created = timeOfText(session['startTime']);
      const title = textOf(session['summary']);
      yield { place, conversation: { id, title, created, system: null, branches: branchesOf(nodes, last) } };
    }
  },
};

/** Null for a message that the user does not see. */
function messageOf(message: ForeignFields): ForeignMessage | null {
  const { type } = message;
  if (type !== 'user' && type !== 'gemini') return null;
  const thoughts = listOf(message['thoughts']).map((one): Part => {
    const { subject, description } = fieldsOf(one);
    return {
      kind: 'thinking',
      text: [subject, description].filter((text) => textOf(text) !== null).join('\n'),
    };
  });
  const calls = listOf(message['toolCalls']).map(fieldsOf).flatMap(partsOfCall);
  const parts = [...thoughts, ...partsOfContent(message['content'], type === 'user'), ...calls];
  if (parts.length === 0) return null;
  return {
    id: textOf(message['id']),
    role: type === 'user' ? 'user' : 'assistant',
    finish: null,
    parts,
    time: timeOfText(message['timestamp']),
    model: textOf(message['model']),
  };
}

function partsOfCall({ id, name, args, result }: ForeignFields): readonly Part[] {
  // A call may have the results of the calls beside it, too.
  const responses = listOf(result)
    .map((one) => fieldsOf(fieldsOf(one)['functionResponse']))
    .filter((one) => one['id'] === undefined || one['id'] === id);
  const outputs = responses.map(({ response }) => {
    const { output, error } = fieldsOf(response);
    return asText(output ?? error ?? response);
  });
  const text = (typeof result === 'string' ? [result] : outputs).filter((output) => output !== '').join('\n');
  const call: Part = { kind: 'tool', name: asText(name), input: asText(args) };
  return text === '' ? [call] : [call, { kind: 'result', name: null, text }];
}

/** A text that the program added to the messages of the user. */
const fromProgram = /^\s*<(session_context|hook_context)>/;

/** A text, a part, or a list of both. Calls, their results and thoughts in the list are left out, because the message has them in other fields. */
function partsOfContent(content: unknown, isOwn: boolean): readonly Part[] {
  return (Array.isArray(content) ? content : [content]).flatMap((one: unknown): readonly Part[] => {
    const part = fieldsOf(one);
    const text = textOf(one) ?? textOf(part['text']);
    if (text !== null)
      return part['thought'] === true || (isOwn && fromProgram.test(text)) ? [] : [{ kind: 'text', text }];
    const file = fieldsOf(part['inlineData'] ?? part['fileData']);
    const name = textOf(file['displayName']) ?? textOf(file['fileUri']) ?? textOf(file['mimeType']);
    return name === null ? [] : [{ kind: 'attachment', name, text: null }];
  });
}
