// Processes that undo, redo, fork and ask for other replies are killed (`kill -9`): the store is whole, and what was acknowledged is there.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Message, Page } from '../../src/service/session.ts';
import { callWith, collect, say } from '../support/calls.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import type { Acknowledged } from '../support/line-moving-process.ts';
import { bundleProcess } from '../support/paused-process.ts';
import { runs } from '../support/runs.ts';

test('nothing acknowledged is lost, and no turn or fork is there in part', async () => {
  const place = await temporaryDirectory();
  const [directory, program] = [join(place.path, 'data'), join(place.path, 'program')];
  mkdirSync(program);
  const script = await bundleProcess(program, 'line-moving-process');
  const backend = await openEmbedded(directory, { owner: { id: 'test', isGone: () => true } });
  const apiKey = await newKey(backend, 'project');
  const call = callWith(apiKey);
  const { session_id: session } = (await backend.service.createSession(call, { title: null })).data;
  const acknowledged = new Map<string, { readonly session: string; readonly content: string }>();
  const children: ChildProcess[] = [];
  const startAndKill = async (name: string, after: number) => {
    const child = fork(script);
    children.push(child);
    const ended = once(child, 'exit');
    let count = 0;
    child.on('message', ({ session: of, messages }: Acknowledged) => {
      for (const { message_id, content } of messages) acknowledged.set(message_id, { session: of, content });
      count += 1;
      // The kill happens during the next operation.
      if (count === after) setImmediate(() => child.kill('SIGKILL'));
    });
    child.send({ directory, apiKey, session, name });
    expect(await ended).toEqual([null, 'SIGKILL']);
  };
  try {
    for (let round = 0; round < runs(1, 40); round += 1) {
      await Promise.all([startAndKill(`a${round}`, 5 + round * 3), startAndKill(`b${round}`, 9 + round)]);
      expect((await backend.administration.inspectStore()).integrity).toBe('ok');
    }
    for (const [id, { session: of, content }] of acknowledged) expect(await contentOf(of, id)).toBe(content);
    // The next calls need no help.
    expect((await say(backend.service, call, 'afterwards', session)).reply).toBe('afterwards');
    const other = await collect(backend.archive.regenerate(call, session, {}, 'whole'));
    expect(other.at(-1)).toMatchObject({ event: 'done', data: { reply: 'afterwards' } });
    await backend.archive.undoTurn(call, session);
    await backend.archive
      .forkSession(call, session, {})
      .catch((error) => expect(error).toMatchObject({ code: 'INVALID_REQUEST' }));
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await backend.close();
    await place.remove();
  }

  async function contentOf(of: string, id: string): Promise<string | undefined> {
    let cursor: string | null = null;
    do {
      const page: Page<Message> = (
        await backend.archive.listMessages(call, of, { limit: 200, cursor, all: true })
      ).data;
      const found = page.items.find(({ message_id }) => message_id === id);
      if (found !== undefined) return found.content;
      cursor = page.next_cursor;
    } while (cursor !== null);
    return undefined;
  }
});
