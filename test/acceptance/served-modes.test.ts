// A file of modes for `parley serve`: it is read, read again on SIGHUP, and refused if it is invalid.
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chunk, replyOf, sendStream, sse, startStream } from '../support/model-server.ts';
import { PlaceWithModel } from '../support/place-with-model.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceWithModel;
beforeEach(async () => {
  place = await PlaceWithModel.open();
});
afterEach(() => place.close());

describe('a file of modes for serve', () => {
  const file = () => join(place.path, 'modes.yaml');
  const mode = (name: string) => `  ${name}:\n    base_url: ${place.server.url}\n    model: m\n`;
  const modesOf = async (url: string, key: string) => {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { data: readonly { name: string; default: boolean }[] };
    return data.map(({ name, default: isDefault }) => (isDefault ? `${name}*` : name));
  };

  test('is served, read again on SIGHUP, and not replaced if the new one is invalid', async () => {
    writeFileSync(file(), `default: one\nmodes:\n${mode('one')}`);
    const served = await servePlace(place, ['--modes', file()]);
    const key = (await place.output(['keys', 'create', '--project', 'p'])).trim();
    expect(await modesOf(served.url, key)).toEqual(['one*', 'eliza', 'echo']);
    const reload = async (text: string, logged: string) => {
      writeFileSync(file(), text);
      served.child.kill('SIGHUP');
      await expect.poll(() => served.written.err).toContain(logged);
    };
    await reload(`modes:\n${mode('one')}${mode('two')}`, 'modes read again');
    expect(await modesOf(served.url, key)).toEqual(['one', 'two', 'eliza*', 'echo']);
    await reload(`modes:\n${mode('three')}    temprature: 1\n`, 'modes not read again');
    expect(served.written.err).toContain('line 5: modes.three.temprature is not a setting of a mode');
    expect(await modesOf(served.url, key)).toEqual(['one', 'two', 'eliza*', 'echo']);
    await reload('# moved\n', `${file()}, line 1: contains no modes.`);
    expect(await modesOf(served.url, key)).toEqual(['one', 'two', 'eliza*', 'echo']);
    expect((await served.end('SIGTERM')).status).toBe(143);
  });

  test('leaves no connection of the earlier modes when their replies have ended', async () => {
    const sockets = new Set<Socket>();
    const waiting: ServerResponse[] = [];
    place.script = ({ body }, response) => {
      const { socket } = response;
      if (socket !== null) {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      }
      if (!body.includes('slowly')) return sendStream(response, replyOf('Hello'));
      startStream(response).write(sse(chunk({ content: 'Half' })));
      waiting.push(response);
    };
    writeFileSync(file(), `modes:\n${mode('one')}${mode('two')}`);
    const served = await servePlace(place, ['--modes', file()]);
    const key = (await place.output(['keys', 'create', '--project', 'p'])).trim();
    const chat = (name: string, message: string) =>
      fetch(`${served.url}/v1/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ mode: name, message }),
      });
    const until = (what: () => boolean) => expect.poll(what).toBe(true);
    const slow = chat('one', 'slowly');
    await until(() => waiting.length === 1);
    await (await chat('one', 'Hi')).text();
    await (await chat('two', 'Hi')).text();
    expect(sockets.size).toBe(3);
    served.child.kill('SIGHUP');
    await until(() => served.written.err.includes('modes read again'));
    await until(() => sockets.size <= 2);
    waiting[0]?.end(sse(chunk({ content: ' and half' }, 'stop'), '[DONE]'));
    expect(await (await slow).json()).toMatchObject({ data: { reply: 'Half and half' } });
    await until(() => sockets.size === 0);
    expect((await chat('two', 'Hi')).status).toBe(200);
    await served.end('SIGTERM');
  }, 30_000);

  test.each([
    ['wrong', 'default: nobody\n', 'line 1: default is not a mode'],
    ['empty', '', 'line 1: contains no modes'],
    [
      'wrong in one of its modes',
      (): string => `modes:\n${mode('one')}${mode('two')}    key: x\n`,
      'modes.two.key does',
    ],
  ])('that is %s is refused before the server listens', async (_how, text, problem) => {
    writeFileSync(file(), typeof text === 'string' ? text : text());
    const { status, err } = await place.parley(['serve', '--port', '0', '--modes', file()]);
    expect({ status, err }).toEqual({
      status: 2,
      err: expect.stringContaining(problem),
    });
    expect(err).toContain(file());
  });
});
