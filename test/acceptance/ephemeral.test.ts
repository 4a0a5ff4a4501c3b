// Conversations whose texts are not stored: all bytes of all files of the place are searched for the texts.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { entered, leave, ReplFixture } from '../cli/repl/repl-fixture.ts';
import { expectFailure } from '../support/failures.ts';
import type { Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { textsInFiles } from '../support/remaining-texts.ts';

const marker = 'canary-of-the-ephemeral';

interface Usage {
  readonly turns: number;
  readonly failed: number;
}

async function turns(place: Place): Promise<number> {
  return (await place.answer<readonly Usage[]>(['usage'])).reduce((sum, group) => sum + group.turns, 0);
}

/** A place that also contains its temporary files. */
function withTemporary<P extends Place>(place: P): { place: P; env: { TMPDIR: string } } {
  const TMPDIR = join(place.path, 'tmp');
  mkdirSync(TMPDIR, { recursive: true });
  return { place, env: { TMPDIR } };
}

const chat = (...words: readonly string[]) => ['chat', '--ephemeral', '-m', 'echo', ...words];

describe('chat --ephemeral', () => {
  const { place, env } = withTemporary(new PlaceInProcess());
  afterAll(() => place.remove());

  test('replies, counts the turn, and writes none of its text to a file', async () => {
    await place.output(['chat', '-n', '-m', 'echo', 'kept']);
    const before = await turns(place);
    const spoken = await place.binary(chat(marker), { stdin: `${marker} of stdin`, env });
    expect([spoken.status, spoken.out]).toEqual([0, `${marker}\n\n${marker} of stdin\n`]);
    const json = JSON.parse(await place.output(chat('-n', '--system', marker, marker, '--json'))).data;
    expect(json).toMatchObject({ reply: marker, message_count: 2 });
    expect(await turns(place)).toBe(before + 2);
    expect(await textsInFiles(place.path, [marker])).toEqual([]);
    expectFailure(await place.parley(['sessions', 'get', json.session_id]), {
      status: 5,
      code: 'SESSION_NOT_FOUND',
    });
    expect(await place.output(chat('-n', 'x'))).toBe('x\n');
    expect(await place.output(['chat', '-n', '-c', '-m', 'echo', 'still'])).toBe('still\n');
    expect((await place.answer<{ items: unknown[] }>(['sessions', 'list'])).items).toHaveLength(1);
  });

  test('that fails stores nothing either, counts as failed, and offers no retry', async () => {
    const unreachable = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'x'];
    await place.output(['modes', 'add', 'unreachable', ...unreachable]);
    const failed = await place.parley(['chat', '--ephemeral', '-n', '-m', 'unreachable', marker]);
    expect(failed.status).toBe(6);
    expect(failed.err).not.toContain('--idempotency-key');
    expect(failed.err).not.toMatch(/kept/);
    expect(await textsInFiles(place.path, [marker])).toEqual([]);
    expect(await place.answer(['usage'])).toContainEqual(
      expect.objectContaining({ group: 'unreachable', turns: 1, failed: 1 }),
    );
  });

  test.each([[['-c']], [['-s', 'ses_x']], [['-s', 'ses_x', '--fork']], [['--title', 'x']], [['--batch']]])(
    'is refused with %j, and says which option to leave out',
    async (flags) => {
      const refused = await place.parley(['chat', '--ephemeral', '-n', 'x', ...flags]);
      expectFailure(refused, { status: 2, code: 'USAGE' });
      expect(refused.err).toContain(`--ephemeral and ${flags.at(0)} cannot be used together`);
    },
  );

  test('is refused at a server before anything is sent to it', async () => {
    let connections = 0;
    const server = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { PARLEY_URL: url, PARLEY_API_KEY: 'key-1' };
      const refused = await place.parley(['chat', '--ephemeral', '-n', marker], { env });
      expectFailure(refused, { status: 1, code: 'UNSUPPORTED' });
      expect(refused.err).toContain('--profile local');
      expect(connections).toBe(0);
    } finally {
      server.close();
    }
  });
});

describe('the REPL with --ephemeral', () => {
  const fixture = new ReplFixture();
  afterEach(() => fixture.close());

  test('remembers the messages as long as it runs, and writes none of them to a file', async () => {
    const { place, env } = withTemporary(fixture.place());
    await place.output(['models']);
    const screen = fixture.open(
      ['repl', '--ephemeral', '-m', 'eliza'],
      { env: { ...env, EDITOR: 'tee' } },
      place,
    );
    await screen.stands('eliza> ');
    await entered(screen, `My name is ${marker}.`);
    expect(await entered(screen, 'What is my name?')).toContain(marker);
    screen.type('/undo\r');
    await screen.until('the message is back', () => screen.cursorRow.endsWith('> What is my name?'));
    screen.type('\x15');
    await screen.until('the line is empty', () => screen.cursorRow.endsWith('>'));
    expect(await entered(screen, '/redo')).toContain('Restored');
    expect(await entered(screen, '/history')).toContain(marker);
    await entered(screen, `/fork ${marker}`);
    expect(await entered(screen, `/search ${marker}`)).toContain(marker);
    await entered(screen, `/system ${marker}`);
    expect(await entered(screen, `/edit ${marker}`)).toContain(
      'An editor is not available in an ephemeral conversation',
    );
    expect(await leave(screen)).toBe('');
    expect(screen.text).toContain('The text of this conversation is not kept.');
    expect(await textsInFiles(place.path, [marker])).toEqual([]);
    expect(await turns(place)).toBe(2);
    expect((await place.answer<{ items: unknown[] }>(['sessions', 'list'])).items).toEqual([]);
  });
});
