// Properties of the sources whose users can go back: whatever they do, each text is in a branch, no branch has a text twice, and a session that
// grows keeps the branches that it had.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordOf } from '../../../src/cli/imports/conversation-record.ts';
import type { Source } from '../../../src/cli/imports/source.ts';
import { claudeCode } from '../../../src/cli/imports/sources/claude-code.ts';
import { codex } from '../../../src/cli/imports/sources/codex.ts';
import { geminiCli } from '../../../src/cli/imports/sources/gemini-cli.ts';
import { readingsOf } from '../../support/source-readings.ts';

/** What a user does: says something, gets a reply with calls of tools, or goes back. `number` is a choice. */
interface Step {
  readonly kind: 'ask' | 'reply' | 'back' | 'compress' | 'copy';
  readonly number: number;
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('ask', 'ask', 'reply', 'reply', 'back', 'compress', 'copy'),
    number: fc.nat({ max: 20 }),
  }),
  { minLength: 1, maxLength: 25 },
);

/** The lines of each step, so that a session may be cut between two steps. */
type Writer = (steps: readonly Step[]) => (readonly object[])[];

const writeCodex: Writer = (all) => [
  [{ type: 'session_meta', payload: { id: 'a' } }],
  ...all.map(({ kind, number }, at) => {
    if (kind === 'back')
      return [{ type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: number % 4 } }];
    const role = kind === 'ask' ? 'user' : 'assistant';
    return [{ type: 'response_item', payload: { type: 'message', role, content: [{ text: `<${at}>` }] } }];
  }),
];

const writeGemini: Writer = (all) => {
  let chat: { readonly id: string; readonly type: string; readonly content: string }[] = [];
  const replaced = () => ({ $set: { messages: chat } });
  return [
    [{ sessionId: 'a', projectHash: 'b' }],
    ...all.map(({ kind, number }, at): readonly object[] => {
      if (kind === 'back') {
        const message = chat[number % Math.max(1, chat.length)];
        chat = chat.slice(0, message === undefined ? 0 : chat.indexOf(message));
        return message === undefined ? [] : [{ $rewindTo: message.id }, replaced()];
      }
      const copies = chat.map((message) => ({ ...message, id: `${at}-${message.id}` }));
      if (kind === 'compress' && chat.length > 2) {
        const summary = { id: `s${at}`, type: 'user', content: `summary ${at}` };
        chat = [summary, ...copies.slice(-2)];
        return [replaced()];
      }
      if (kind === 'copy' && !/summary/.test(chat[0]?.content ?? 'summary')) {
        chat = copies;
        return [...copies, replaced()];
      }
      const message = { id: `m${at}`, type: kind === 'ask' ? 'user' : 'gemini', content: `<${at}>` };
      chat = [...chat, message];
      return [message];
    }),
  ];
};

const writeClaudeCode: Writer = (all) => {
  const ends: string[] = [];
  let last: string | null = null;
  return all.map(({ kind, number }, at): readonly object[] => {
    if (kind === 'back') last = ends[number % Math.max(1, ends.length)] ?? null;
    if (kind !== 'reply' || last === null) {
      const line = { type: 'user', uuid: `${at}`, parentUuid: last, message: { content: `<${at}>` } };
      last = line.uuid;
      ends.push(last);
      return [line];
    }
    const calls: string[] = [];
    for (let count = 0; count <= number % 3; count += 1) calls.push(`${at}.${count}`);
    const asked = calls.map((id, index) => {
      const content = [{ type: 'tool_use', id, name: 'x', input: `<${id}>` }];
      return {
        type: 'assistant',
        uuid: id,
        parentUuid: calls[index - 1] ?? last,
        message: { id: `r${at}`, content },
      };
    });
    // The results come in any order, each below its call.
    const answered = (number % 2 === 0 ? calls : calls.toReversed()).map((id) => {
      const content = [{ type: 'tool_result', tool_use_id: id, content: `<${id}r>` }];
      return { type: 'user', uuid: `${id}r`, parentUuid: id, message: { content } };
    });
    last = answered.at(-1)?.uuid ?? last;
    ends.push(last);
    return [...asked, ...answered];
  });
};

async function branchesOf(source: Source, lines: readonly (readonly object[])[]) {
  const text = lines.flat().map((line) => `${JSON.stringify(line)}\n`);
  const branches = new Map<string, readonly string[]>();
  for (const reading of await readingsOf(source, 'a.jsonl', text.join('')))
    if ('conversation' in reading)
      for (const branch of reading.conversation.branches) {
        const options = { source: source.name, fallbackTime: 0, messagesOnly: false };
        const { messages = [] } = recordOf(reading.conversation, branch, options) ?? {};
        branches.set(
          branch.key,
          messages.map(({ message_id, content }) => `${message_id} ${content}`),
        );
      }
  return branches;
}

test.each([
  [codex, writeCodex],
  [geminiCli, writeGemini],
  [claudeCode, writeClaudeCode],
] as const)('$name: no text is lost or doubled, and branches only grow', async (source, write) => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat({ max: 25 }), async (all, cut) => {
      const lines = write(all);
      const branches = await branchesOf(source, lines);
      const texts = [...branches.values()].map((messages) => messages.join('\n'));
      for (const [said] of JSON.stringify(lines).matchAll(/<[\d.]+r?>/g)) {
        expect(texts.some((text) => text.includes(said))).toBe(true);
        for (const text of texts) expect(text.split(said).length).toBeLessThanOrEqual(2);
      }
      // The last message may have been continued.
      for (const [key, messages] of await branchesOf(source, lines.slice(0, cut)))
        expect(branches.get(key)?.slice(0, messages.length - 1)).toEqual(messages.slice(0, -1));
    }),
    { numRuns: 300 },
  );
});
