// The hidden messages of an imported session: accepted if this service could have hidden them, else refused with the place of the fault.
import { expect, test } from 'vitest';
import { checkRecord } from '../../src/local/import-rules.ts';
import { defaultLimits } from '../../src/service/limits.ts';
import type { Message } from '../../src/service/session.ts';
import { at, recordOf } from '../store/store-samples.ts';

const visible = recordOf('ses_1', ['a', 'A']);
const [question, answer] = visible.messages as [Message, Message];
const alternative: Message = { ...answer, message_id: 'other', alternative_of: question.message_id };
const undone: readonly Message[] = [
  { ...question, message_id: 'undone', position: 2, undone_at: at(0) },
  { ...answer, message_id: 'undone_reply', position: 3, undone_at: at(0) },
];
const ofUndone: Message = { ...answer, message_id: 'third', position: 3, alternative_of: 'undone' };

function check(...hidden: readonly object[]): Promise<void> {
  return checkRecord({ ...visible, hidden_messages: hidden as readonly Message[] }, defaultLimits);
}

test('alternatives, undone turns and alternatives of undone turns are accepted, in any order', async () => {
  await expect(check()).resolves.toBeUndefined();
  await expect(check(ofUndone, ...undone, alternative)).resolves.toBeUndefined();
});

test.each<[string, readonly object[], string]>([
  ['with neither mark', [{ ...answer, message_id: 'x' }], 'hidden_messages[0].alternative_of'],
  ['with both marks', [{ ...alternative, undone_at: at(0) }], 'hidden_messages[0].alternative_of'],
  [
    'that answers no message',
    [{ ...alternative, alternative_of: 'none' }],
    'hidden_messages[0].alternative_of',
  ],
  ['that answers a number', [{ ...alternative, alternative_of: 5 }], 'hidden_messages[0].alternative_of'],
  [
    'that answers as the user',
    [{ ...question, message_id: 'x', alternative_of: question.message_id }],
    'hidden_messages[0].alternative_of',
  ],
  [
    'with the id of another',
    [{ ...alternative, message_id: question.message_id }],
    'hidden_messages[0].message_id',
  ],
  ['undone without its reply', undone.slice(0, 1), 'hidden_messages[0].undone_at'],
  ['undone with two replies', [...undone, { ...undone[1], message_id: 'x' }], 'hidden_messages[0].undone_at'],
  [
    'undone at an earlier place than its reply',
    [{ ...undone[0], position: 0 }, undone[1] ?? {}],
    'hidden_messages[0].undone_at',
  ],
  [
    'undone behind no turn',
    undone.map((one) => ({ ...one, position: one.position + 2 })),
    'hidden_messages[0].position',
  ],
  [
    'undone after the last activity',
    undone.map((one) => ({ ...one, undone_at: at(1) })),
    'hidden_messages[0].undone_at',
  ],
  ['undone at no time', [{ ...undone[0], undone_at: 'late' }], 'hidden_messages[0].undone_at'],
  ['at no place', [{ ...alternative, position: 0.5 }], 'hidden_messages[0].position'],
  ['with an unknown field', [{ ...alternative, colour: 'red' }], 'hidden_messages[0].colour'],
])('a hidden message %s is refused with its place', async (_, hidden, field) => {
  await expect(check(...hidden)).rejects.toMatchObject({
    ...{ code: 'INVALID_REQUEST', details: [{ field }], message: expect.stringContaining(field) },
  });
});
