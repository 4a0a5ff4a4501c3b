// The export of Claude: `conversations.json`, an array of conversations with `chat_messages`. Newer exports name each message's parent, so an
// edited message starts a branch.
import { branchesOf, type TreeNode } from '../branches.ts';
import { type ForeignConversation, type ForeignMessage, type Part, textParts } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfText } from '../foreign-value.ts';
import { jsonConversations } from '../json-conversations.ts';
import type { Source } from '../source.ts';

/** The parent of the first message of a conversation. */
const noParent = '00000000-0000-4000-8000-000000000000';

export const claude: Source = {
  name: 'claude',
  title: 'Claude export',
  recognises: ({ text }) => /^\s*[[{]/.test(text) && /"chat_messages"\s*:\s*\[/.test(text),
  companions: /(?:^|\/)(?:users|projects|memories)\.json$/,
  read: (file, { signal }) =>
    jsonConversations(
      file.open(signal),
      conversationOf,
      'is not a conversation: it has no uuid or no chat_messages',
    ),
};

function conversationOf(fields: ForeignFields): ForeignConversation | null {
  const id = textOf(fields['uuid']);
  const list = fields['chat_messages'];
  if (id === null || !Array.isArray(list)) return null;
  const messages = list.map(fieldsOf);
  const isTree = messages.some((message) => textOf(message['parent_message_uuid']) !== null);
  let before: string | null = null;
  const nodes = messages.map((message, index): TreeNode => {
    const ownId = textOf(message['uuid']) ?? `#${index}`;
    const parentId = textOf(message['parent_message_uuid']);
    const treeParent = parentId === noParent ? null : parentId;
    const parent = isTree ? treeParent : before;
    before = ownId;
    return { id: ownId, parent, message: messageOf(message) };
  });
  return {
    id,
    title: textOf(fields['name']),
    created: timeOfText(fields['created_at']),
    system: null,
    branches: branchesOf(nodes, textOf(fields['current_leaf_message_uuid'])),
  };
}

function messageOf(message: ForeignFields): ForeignMessage | null {
  const { sender } = message;
  if (sender !== 'human' && sender !== 'assistant') return null;
  const content = listOf(message['content']).flatMap(partOf);
  const text = textOf(message['text']);
  // With other content, `text` repeats it or says that a tool call cannot be shown. With only thinking, it is the text of the message.
  const isRepeated = content.some(({ kind }) => kind !== 'thinking');
  const parts: readonly Part[] = [
    ...[...listOf(message['attachments']), ...listOf(message['files'])].map(attachmentOf),
    ...content,
    ...textParts('text', isRepeated ? null : text),
  ];
  if (parts.length === 0) return null;
  return {
    id: textOf(message['uuid']),
    role: sender === 'human' ? 'user' : 'assistant',
    time: timeOfText(message['created_at']),
    model: textOf(message['model']),
    finish: message['stop_reason'] === 'max_tokens' ? 'length' : null,
    parts,
  };
}

function attachmentOf(value: unknown): Part {
  const fields = fieldsOf(value);
  const name = textOf(fields['file_name']) ?? textOf(fields['file_uuid']) ?? 'pasted text';
  return { kind: 'attachment', name, text: textOf(fields['extracted_content']) };
}

function partOf(value: unknown): readonly Part[] {
  const fields = fieldsOf(value);
  switch (fields['type']) {
    case 'thinking':
      return textParts('thinking', textOf(fields['thinking']));
    case 'tool_use':
      return [{ kind: 'tool', name: textOf(fields['name']) ?? 'tool', input: asText(fields['input']) }];
    case 'tool_result': {
      const texts = listOf(fields['content']).map((one) => textOf(fieldsOf(one)['text']) ?? asText(one));
      const result = texts.length > 0 ? texts.join('\n') : asText(fields['content']);
      return [{ kind: 'result', name: textOf(fields['name']), text: result }];
    }
    default:
      // A voice note has its text as `text` or `transcript`.
      return textParts('text', textOf(fields['text']) ?? textOf(fields['transcript']));
  }
}
