// Responses that are lost after the server has acted: if keys are honoured, a turn is stored once; at a third-party server never twice.
import { describe, expect, it } from 'vitest';
import { ParleyError } from '../../src/service/errors.ts';
import { openServer } from '../server/server-fixture.ts';
import { callWith, say } from '../support/calls.ts';
import { openLossyProxy } from '../support/lossy-proxy.ts';
import { openRemote } from '../support/remote.ts';
import { runs } from '../support/runs.ts';
import { openTurnServer } from '../support/turn-server.ts';

/** 30 of 100 answers, spread by a fixed rule; of these a third each before, in the middle of, and just short of the answer. */
function losing(count: number): number | null {
  const place = (count * 37) % 100;
  return place < 30 ? ([0, 0.1, 0.99][place % 3] ?? 0) : null;
}

const turns = runs(40, 2_000);

describe('a proxy that loses 30 % of the responses', () => {
  it('causes no duplicate and no lost turn if the server honours keys', async () => {
    const { server, stored, lost } = await openTurnServer({ honoursKeys: true, loses: losing });
    const { backend } = await openRemote(server.url, { extensions: ['idempotency', 'stream'] });
    const messages = Array.from({ length: turns }, (_, index) => `message ${index}`);
    let whole = 0;
    const failures: unknown[] = [];
    const keyed = (message: string) => callWith('k', { idempotencyKey: message.replace(' ', '-') });
    await Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        for (const message of messages.filter((_message, index) => index % 4 === lane)) {
          // If a reply that was partly shown breaks off, a user repeats the message with its key.
          for (let tries = 0; tries < 10; tries++) {
            const reply = await say(backend.service, keyed(message), message).catch(
              (error: unknown) => error,
            );
            if (reply instanceof ParleyError) {
              failures.push(reply.code);
              continue;
            }
            expect(reply).toMatchObject({ reply: message });
            whole += 1;
            break;
          }
        }
      }),
    );
    expect(whole).toBe(turns);
    expect([...stored].sort()).toEqual([...messages].sort());
    expect(lost()).toBeGreaterThan(turns * 0.25);
    expect(new Set(failures)).toEqual(new Set(['INCOMPLETE_REPLY']));
    await backend.close();
    await server.close();
  });

  it('never causes a duplicate turn at a third-party server', async () => {
    const { server, stored, lost } = await openTurnServer({ honoursKeys: false, loses: losing });
    const { backend } = await openRemote(server.url);
    let failed = 0;
    for (let index = 0; index < turns; index++) {
      await say(backend.service, callWith('k'), `message ${index}`).catch((error: unknown) => {
        if (!(error instanceof ParleyError)) throw error;
        expect(['NETWORK', 'INCOMPLETE_REPLY']).toContain(error.code);
        failed += 1;
      });
    }
    expect(server.requests).toHaveLength(turns);
    expect(new Set(stored).size).toBe(stored.length);
    expect(failed).toBe(lost());
    expect(failed).toBeGreaterThan(turns * 0.25);
    await backend.close();
    await server.close();
  });

  it('makes no deletion fail, and reports no deletion as done that was not', async () => {
    const { server, deleted } = await openTurnServer({ honoursKeys: false, loses: losing });
    const { backend } = await openRemote(server.url);
    for (let index = 0; index < 100; index++) {
      const { data } = await backend.service.deleteSession(callWith('k'), `ses_${index}`);
      expect(data.session_id).toBe(`ses_${index}`);
      expect(deleted).toContain(`ses_${index}`);
    }
    expect(server.requests.length).toBeGreaterThan(125);
    await backend.close();
    await server.close();
  });
});

describe('a lossy proxy in front of this server', () => {
  it('causes no duplicate and no lost turn', async () => {
    const server = await openServer();
    const proxy = await openLossyProxy((await server.listen()).url, losing);
    const { backend } = await openRemote(proxy.url, { extensions: ['archive', 'idempotency', 'stream'] });
    const lanes = Array.from({ length: 4 }, async (_, lane) => {
      const { data } = await server.backend.service.createSession(callWith(server.key), { title: null });
      const messages = Array.from({ length: turns / 4 }, (_, index) => `lane ${lane} message ${index}`);
      for (const message of messages) {
        const call = callWith(server.key, { idempotencyKey: message.replaceAll(' ', '-') });
        let reply: unknown;
        for (let tries = 0; tries < 10 && (reply === undefined || reply instanceof ParleyError); tries++) {
          reply = await say(backend.service, call, message, data.session_id).catch((error: unknown) => error);
        }
        expect(reply).toMatchObject({ reply: message });
      }
      const stored: (readonly [string, string])[] = [];
      for (let cursor: string | null = null, isMore = true; isMore; isMore = cursor !== null) {
        const page = { limit: 200, cursor };
        const { data: messagePage } = await server.backend.archive.listMessages(
          callWith(server.key),
          data.session_id,
          page,
        );
        stored.push(...messagePage.items.map(({ role, content }) => [role, content] as const));
        cursor = messagePage.next_cursor;
      }
      expect(stored).toEqual(
        messages.flatMap((message) => [
          ['user', message],
          ['assistant', message],
        ]),
      );
    });
    await Promise.all(lanes);
    expect(proxy.lost()).toBeGreaterThan(turns * 0.25);
    await backend.close();
    await proxy.close();
    await server.close();
  });
});

describe('a lost answer', () => {
  const once = (share: number) => (count: number) => (count === 1 ? share : null);

  it('to a first chat is retried only if the server is known to honour keys', async () => {
    for (const extensions of [null, [], ['stream'], ['idempotency']]) {
      const { server, stored } = await openTurnServer({ honoursKeys: true, loses: once(0) });
      const { backend } = await openRemote(server.url, { extensions });
      const known = extensions?.includes('idempotency') ?? false;
      const work = say(backend.service, callWith('k'), 'x');
      if (known) expect((await work).reply).toBe('x');
      else await expect(work).rejects.toMatchObject({ code: 'NETWORK' });
      expect([server.requests.length, stored.length]).toEqual([known ? 2 : 1, 1]);
      await backend.close();
      await server.close();
    }
  });

  it('is retried if an earlier response showed that keys are honoured', async () => {
    const { server, stored } = await openTurnServer({
      honoursKeys: true,
      loses: (count) => (count === 2 ? 0 : null),
    });
    const { backend } = await openRemote(server.url);
    expect(backend.extensions).toBeNull();
    await backend.service.verify(callWith('k'));
    expect(backend.extensions).toEqual(['idempotency', 'stream']);
    expect((await say(backend.service, callWith('k'), 'x')).reply).toBe('x');
    expect(stored).toEqual(['x']);
    const keys = server.requests.slice(1).map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    await backend.close();
    await server.close();
  });

  it('of which a part was shown is never retried', async () => {
    const { server, stored } = await openTurnServer({ honoursKeys: true, loses: once(0.99) });
    const { backend } = await openRemote(server.url, { extensions: ['idempotency'] });
    await expect(say(backend.service, callWith('k'), 'x')).rejects.toMatchObject({
      code: 'INCOMPLETE_REPLY',
      session_id: 'ses_1',
      message_id: 'msg_1',
    });
    expect([server.requests.length, stored.length]).toEqual([1, 1]);
    await backend.close();
    await server.close();
  });
});

describe('a deletion', () => {
  it('of a missing session is not found at the first attempt', async () => {
    const { server } = await openTurnServer({ honoursKeys: false, loses: () => null });
    const { backend } = await openRemote(server.url);
    await backend.service.deleteSession(callWith('k'), 'ses_1');
    await expect(backend.service.deleteSession(callWith('k'), 'ses_1')).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    await backend.close();
    await server.close();
  });
});
