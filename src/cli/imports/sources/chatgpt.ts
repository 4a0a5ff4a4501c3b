// The export of ChatGPT: `conversations.json`, or `conversations-000.json` and so on, an array of conversations. Each is a tree of nodes;
// `current_node` is the end of the branch that was shown last.
import type { FinishReason } from '../../../service/session.ts';
import { branchesOf, type TreeNode } from '../branches.ts';
import { type ForeignConversation, type ForeignMessage, type Part, textParts } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfSeconds } from '../foreign-value.ts';
import { jsonConversations } from '../json-conversations.ts';
import type { Source } from '../source.ts';

export const chatgpt: Source = {
  name: 'chatgpt',
  title: 'ChatGPT export',
  recognises: ({ text }) => /^\s*[[{]/.test(text) && /"mapping"\s*:\s*\{/.test(text),
  companions:
    /(?:^|\/)(?:(?:chat\.html|(?:user|user_settings|message_feedback|model_comparisons|shared_conversations|export_manifest)\.json|file[-_][^/]+)$|dalle-generations\/)/,
  read: (file, { signal }) =>
    jsonConversations(file.open(signal), conversationOf, 'is not a conversation: it has no id or no mapping'),
};

function conversationOf(fields: ForeignFields): ForeignConversation | null {
  const id = textOf(fields['conversation_id']) ?? textOf(fields['id']);
  const mapping = fieldsOf(fields['mapping']);
  if (id === null || fields['mapping'] !== mapping) return null;
  const model = textOf(fields['model_slug']) ?? textOf(fields['default_model_slug']);
  return {
    id,
    title: textOf(fields['title']),
    created: timeOfSeconds(fields['create_time']),
    system: null,
    branches: branchesOf(nodesOf(mapping, model), textOf(fields['current_node'])),
  };
}

/** Siblings in the order of their parent's `children`; the others in the order of the file. */
function nodesOf(mapping: ForeignFields, model: string | null): readonly TreeNode[] {
  const order = new Map<string, number>();
  for (const node of Object.values(mapping))
    for (const child of listOf(fieldsOf(node)['children']))
      if (typeof child === 'string') order.set(child, order.size);
  const nodes = Object.entries(mapping).map(([id, value]): TreeNode => {
    const node = fieldsOf(value);
    return { id, parent: textOf(node['parent']), message: messageOf(fieldsOf(node['message']), model) };
  });
  const placeOf = ({ id }: TreeNode) => order.get(id) ?? order.size;
  return nodes.sort((one, other) => placeOf(one) - placeOf(other));
}

/** Null for a node that the conversation does not show. */
function messageOf(message: ForeignFields, model: string | null): ForeignMessage | null {
  const metadata = fieldsOf(message['metadata']);
  const author = fieldsOf(message['author']);
  const role = author['role'];
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return null;
  if (metadata['is_visually_hidden_from_conversation'] === true) return null;
  const files = listOf(metadata['attachments']).map(fieldsOf);
  const attachments = files.map(({ name }): Part => {
    return { kind: 'attachment', name: textOf(name) ?? 'file', text: null };
  });
  // An attached picture is in the content, too, with its id at the end of its address.
  const ids = new Set<unknown>(files.flatMap(({ id }) => textOf(id) ?? []));
  const isAttached = ({ asset_pointer: address }: ForeignFields) =>
    ids.has(textOf(address)?.replace(/^.*\//, ''));
  const parts = partsOf(message, { name: textOf(author['name']), role, isAttached });
  if (parts.length + attachments.length === 0) return null;
  return {
    id: textOf(message['id']),
    role: role === 'user' ? 'user' : 'assistant',
    time: timeOfSeconds(message['create_time']),
    model: role === 'user' ? null : (textOf(metadata['model_slug']) ?? model),
    finish: role === 'assistant' ? finishOf(message, metadata) : null,
    parts: [...attachments, ...parts],
  };
}

interface PartContext {
  readonly name: string | null;
  readonly role: string;
  /** True for a part that is named as an attachment. */
  isAttached(part: ForeignFields): boolean;
}

function partsOf(message: ForeignFields, { name, role, isAttached }: PartContext): readonly Part[] {
  const content = fieldsOf(message['content']);
  const text = textOf(content['text']) ?? textOf(content['result']) ?? textOf(content['content']);
  const recipient = textOf(message['recipient']) ?? 'all';
  const isCall = role === 'assistant' && recipient !== 'all';
  const textPart = (one: string): Part => {
    if (role === 'tool') return { kind: 'result', name, text: one };
    return isCall ? { kind: 'tool', name: recipient, input: one } : { kind: 'text', text: one };
  };
  switch (content['content_type']) {
    case 'user_editable_context':
    case 'model_editable_context':
      return [];
    case 'thoughts':
      return listOf(content['thoughts']).map((one) => {
        const { summary, content: thought } = fieldsOf(one);
        return {
          kind: 'thinking',
          text: [summary, thought].filter((words) => textOf(words) !== null).join('\n'),
        };
      });
    case 'reasoning_recap':
      return textParts('thinking', text);
    default: {
      const parts = listOf(content['parts'])
        .filter((part) => !isAttached(fieldsOf(part)))
        .flatMap((part) => partOf(part, textPart));
      return parts.length === 0 && text !== null ? [textPart(text)] : parts;
    }
  }
}

function partOf(part: unknown, textPart: (text: string) => Part): readonly Part[] {
  if (typeof part === 'string') return part.trim() === '' ? [] : [textPart(part)];
  const fields = fieldsOf(part);
  const text = textOf(fields['text']);
  if (text !== null) return [textPart(text)];
  const name = textOf(fields['name']) ?? textOf(fields['asset_pointer']) ?? textOf(fields['content_type']);
  return name === null
    ? [{ kind: 'result', name: null, text: asText(part) }]
    : [{ kind: 'attachment', name, text: null }];
}

function finishOf(message: ForeignFields, metadata: ForeignFields): FinishReason | null {
  const type = fieldsOf(metadata['finish_details'])['type'];
  if (type === 'max_tokens') return 'length';
  if (type === 'interrupted' || message['status'] === 'finished_partial_completion') return 'interrupted';
  return type === 'stop' ? 'stop' : null;
}
