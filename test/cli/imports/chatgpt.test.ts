// How the nodes of a conversation of ChatGPT become messages.
import { expect, test } from 'vitest';
import { chatgpt } from '../../../src/cli/imports/sources/chatgpt.ts';
import { conversationOf, textsOf } from '../../support/source-readings.ts';

test('a picture that is an attachment, too, is named once', async () => {
  const parts = [
    { content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-abc' },
    { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_0001' },
    { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_0002' },
    'What are these?',
  ];
  const attachments = [
    { id: 'file-abc', name: 'tide.png' },
    { id: 'file_0001', name: 'moon.png' },
    { name: 'notes.txt' },
  ];
  const message = {
    ...{ id: 'a', author: { role: 'user' }, content: { content_type: 'multimodal_text', parts } },
    metadata: { attachments },
  };
  const mapping = { a: { id: 'a', parent: null, children: [], message } };
  const conversation = await conversationOf(chatgpt, 'conversations.json', [{ id: 'c', mapping }]);
  expect(textsOf(chatgpt, conversation)).toEqual([
    [
      'user: [attachment: tide.png]\n\n[attachment: moon.png]\n\n[attachment: notes.txt]\n\n' +
        '[attachment: sediment://file_0002]\n\nWhat are these?',
    ],
  ]);
});
