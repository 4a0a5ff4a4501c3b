// Reads a JSON file with one conversation per item.
import type { ForeignConversation, SourceReading } from './conversation.ts';
import { type ForeignFields, fieldsOf } from './foreign-value.ts';
import { broken, jsonItems } from './json-items.ts';

/** `conversationOf` returns null for an item that is not a conversation; `problem` then says what it lacks. */
export async function* jsonConversations(
  chunks: AsyncIterable<Uint8Array>,
  conversationOf: (fields: ForeignFields) => ForeignConversation | null,
  problem: string,
): AsyncGenerator<SourceReading, void> {
  for await (const { place, value, failure } of jsonItems(chunks)) {
    const conversation = failure === null ? conversationOf(fieldsOf(value)) : null;
    if (conversation !== null) yield { place, conversation };
    else yield { place, failure: failure ?? broken(place, problem) };
  }
}
