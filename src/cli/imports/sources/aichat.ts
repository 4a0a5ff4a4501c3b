// The sessions of aichat: one YAML file each, with the model and the messages, but no times and no ids. `compressed_messages` has older messages
// that a summary replaces.
import { basename } from 'node:path';
import { parse } from 'yaml';
import { ParleyError } from '../../../service/errors.ts';
import { type ForeignMessage, type Part, singleBranch, textParts } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf } from '../foreign-value.ts';
import { broken } from '../json-items.ts';
import { configDirectories, type Source } from '../source.ts';

/** The most bytes of a session. A YAML file is parsed as a whole. */
const maxBytes = 8 * 1024 * 1024;
/** Warnings would go to stderr. Checking for repeated keys and pretty errors take quadratic time. */
const yamlOptions = { maxAliasCount: 0, logLevel: 'error', prettyErrors: false, uniqueKeys: false } as const;

/** The sessions of an agent are in a directory of its own. Their names may be those of other sessions. */
const agentSession = /[\\/]agents[\\/]([^\\/]+)[\\/]sessions[\\/].*\.ya?ml$/;

export const aichat: Source = {
  name: 'aichat',
  title: 'aichat session',
  recognises: ({ name, text }) =>
    /\.ya?ml$/.test(name) && /^model:/m.test(text) && /^(compressed_)?messages:/m.test(text),
  places(machine) {
    const { AICHAT_SESSIONS_DIR: sessions, AICHAT_CONFIG_DIR: config } = machine.env;
    const configs = config === undefined ? configDirectories(machine, 'aichat') : [config];
    const paths = sessions === undefined ? configs.map((path) => `${path}/sessions`) : [sessions];
    return [
      ...paths.map((path) => ({ path, pattern: /\.yaml$/, keptDays: null })),
      ...configs.map((path) => ({ path: `${path}/agents`, pattern: agentSession, keptDays: null })),
    ];
  },
  async *read(file, { signal }) {
    const place = null;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of file.open(signal)) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new ParleyError('PAYLOAD_TOO_LARGE', `${file.path} has more than ${maxBytes} bytes.`, {
          hint: 'It was skipped; the rest was read.',
        });
      chunks.push(chunk);
    }
    let session: ForeignFields;
    try {
      session = fieldsOf(parse(Buffer.concat(chunks).toString(), yamlOptions));
    } catch {
      yield { place, failure: broken('the session', 'is not YAML') };
      return;
    }
    const model = textOf(session['model']);
    const all = [...listOf(session['compressed_messages']), ...listOf(session['messages'])].map(fieldsOf);
    // Any other system message is a summary.
    const [first = {}] = all;
    const system = first['role'] === 'system' ? textOf(first['content']) : null;
    const messages = all.flatMap((message) => messageOf(message, model));
    if (messages.length === 0) yield { place, skipped: 'empty' };
    else {
      const title = basename(file.path).replace(/\.ya?ml$/, '');
      const [, agent] = agentSession.exec(file.path) ?? [];
      const id = agent === undefined ? title : `${agent}/${title}`;
      const facts = { id, title, created: null, system: system ?? textOf(session['role_prompt']) };
      yield { place, conversation: { ...facts, branches: singleBranch(messages) } };
    }
  },
};

function messageOf({ role, content }: ForeignFields, model: string | null): readonly ForeignMessage[] {
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return [];
  const isOwn = role === 'user';
  const facts = { id: null, time: null, finish: null };
  const parts = role === 'tool' ? partsOfCalls(fieldsOf(content)) : partsOf(content);
  return [{ ...facts, role: isOwn ? 'user' : 'assistant', model: isOwn ? null : model, parts }];
}

function partsOf(content: unknown): readonly Part[] {
  return (typeof content === 'string' ? [content] : listOf(content)).map((one): Part => {
    const text = typeof one === 'string' ? one : textOf(fieldsOf(one)['text']);
    return text === null
      ? { kind: 'attachment', name: asText(fieldsOf(one)['type']) || 'file', text: null }
      : { kind: 'text', text };
  });
}

/** The text before the calls of tools, and each call with its result. */
function partsOfCalls({ text, tool_results }: ForeignFields): readonly Part[] {
  const calls = listOf(tool_results).map(fieldsOf);
  return [
    ...textParts('text', textOf(text)),
    ...calls.flatMap(({ call, output }): readonly Part[] => {
      const { name, arguments: input } = fieldsOf(call);
      return [
        { kind: 'tool', name: asText(name), input: asText(input) },
        { kind: 'result', name: null, text: asText(output) },
      ];
    }),
  ];
}
