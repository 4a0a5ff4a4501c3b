// The output of the program: complete for a slow reader, no error if the reader leaves, and an error if it cannot be written.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message, Page, Session } from '../../src/service/session.ts';
import { expectNoStackTrace } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { makeSessions } from '../support/stored.ts';

const place = new PlaceInProcess();
const mebibyte = 1024 * 1024;
let large = '';

beforeAll(async () => {
  large = (await place.output(['sessions', 'create', '--title', 'large'])).trimEnd();
  for (const letter of 'abcdef') {
    await place.output(['chat', '-m', 'echo', '-s', large], { stdin: `${letter}€`.repeat(mebibyte / 4) });
  }
});
afterAll(() => place.remove());

const sha = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('more than 10 MB of output', () => {
  test('arrives completely in a file, through a slow pipe and at a slow reader', async () => {
    const child = place.start(['sessions', 'messages', large]);
    const slow = createHash('sha256');
    for await (const piece of child.stdout) {
      slow.update(piece);
      await delay(2);
    }
    const { out, err } = await place.shell(
      `parley sessions messages ${large} > whole && sha256sum < whole &&
       parley sessions messages ${large} | (sleep 0.3; dd bs=100003 status=none) | sha256sum && wc -c < whole`,
    );
    expect(err).toBe('');
    const [file, pipe, size] = out.split('\n');
    expect([pipe, `${slow.digest('hex')}  -`]).toEqual([file, file]);
    expect(Number(size)).toBeGreaterThan(12 * mebibyte);
  });

  test('contains each message completely', async () => {
    const { out } = await place.binary(['sessions', 'messages', large, '--json']);
    const bodies = out.trimEnd().split('\n');
    const items = bodies.flatMap((body) => (JSON.parse(body) as { data: Page<Message> }).data.items);
    const expected = [...'abcdef'].flatMap((letter) => {
      const text = `${letter}€`.repeat(mebibyte / 4);
      return [sha(text), sha(text)];
    });
    expect(items.map(({ content }) => sha(content))).toEqual(expected);
  });
});

describe('a reader that leaves', () => {
  test.each([
    ['a transcript', () => `parley sessions messages ${large} | head -1`],
    ['JSON', () => `parley sessions messages ${large} --json | head -c 10`],
    ['a reply', () => `parley sessions messages ${large} | head -c 1000000 | parley chat -m echo | head -1`],
    ['events', () => `head -c 900000 /dev/zero | tr '\\0' x | parley chat -m echo --json-stream | head -1`],
    ['help', () => 'parley --help | head -1'],
    ['nothing read at all', () => `parley sessions messages ${large} | true`],
  ])('is no error: %s', async (_name, script) => {
    const { status, err } = await place.shell(`set -o pipefail; ${script()}`);
    expect({ status, err: err.replace(/^Stopped\..*\n/, '') }).toEqual({ status: 0, err: '' });
  });

  test('leaves the received part of the reply, marked as cut', async () => {
    const id = (await place.output(['sessions', 'create'])).trimEnd();
    const { status } = await place.shell(
      `head -c 1000000 /dev/zero | tr '\\0' x | parley chat -m echo -s ${id} | head -c 10 > /dev/null`,
    );
    expect(status).toBe(0);
    const { items } = await place.answer<Page<Message>>(['sessions', 'messages', id]);
    expect(items[1]).toMatchObject({ role: 'assistant', finish_reason: 'interrupted' });
    expect(items[1]?.content).toMatch(/^x{10,999999}$/);
    expect(await place.output(['sessions', 'messages', id])).toMatch(/^## assistant .*, cut: interrupted$/m);
  });
});

describe('an output that cannot be written', () => {
  test.each([
    ['a reply', 'parley chat -n -m echo hi'],
    ['a listing', 'parley models'],
    ['JSON', 'parley sessions list --json'],
    ['help', 'parley --help'],
    ['the version', 'parley --version'],
  ])('is a reported failure: %s', async (_name, command) => {
    const { status, err } = await place.shell(`${command} > /dev/full`);
    expect(status).toBe(7);
    expect(err).toMatch(/^parley: The output could not be written: .* \(STORAGE_FULL\)\n.+\n$/m);
    expectNoStackTrace(err);
  });

  test('does not hide an earlier failure', async () => {
    const { status, err } = await place.shell('parley chat -n -m nope hi --json > /dev/full');
    expect({ status, err }).toEqual({
      status: 2,
      err: expect.stringMatching(/^parley: .*\(UNKNOWN_MODE\)\n/),
    });
    expectNoStackTrace(err);
  });

  test('is no failure if it is on stderr', async () => {
    const { status, out } = await place.shell(
      'parley chat -n -m echo hi 2> /dev/full; parley models 2>&- | wc -l',
    );
    expect({ status, out }).toEqual({ status: 0, out: 'hi\n2\n' });
  });
});

describe('what is printed in a pipe', () => {
  test('is separated by tabs, without titles and colour', async () => {
    const own = new PlaceInProcess();
    await own.output(['models']);
    const [first = '', second = ''] = await makeSessions(own, 2, 'é 😀');
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
    const listed = await own.output(['sessions', 'list'], { env: { COLUMNS: '20', TERM: 'xterm-256color' } });
    expect(listed).toMatch(new RegExp(`^${second}\t0\t${time}\té 😀 1\n${first}\t0\t${time}\té 😀 0\n$`));
    expect(await own.output(['keys', 'list'])).toMatch(
      new RegExp(`^key_\\w+\tvalid\tdefault\tlocal\t${time}\t\tall\t${time}\t\t\n$`),
    );
    expect(await own.output(['profiles', 'list'])).toBe('*\tlocal\tembedded\t\n');
    own.remove();
  });

  test('has nothing beside it on stderr with --quiet', async () => {
    const own = new PlaceInProcess();
    const commands = ['models', 'keys create --project p', 'sessions list --limit 1', 'profiles use local'];
    await makeTwo(own);
    for (const command of commands) {
      expect(await own.parley([...command.split(' '), '--quiet'])).toMatchObject({ status: 0, err: '' });
    }
    own.remove();
  });

  test('continues with the cursor that the hint names', async () => {
    const own = new PlaceInProcess();
    await makeTwo(own);
    const { err } = await own.parley(['sessions', 'list', '--limit', '1']);
    const cursor = /--cursor (\S+)/.exec(err)?.[1] ?? '';
    const { items } = await own.answer<Page<Session>>(['sessions', 'list', '--cursor', cursor]);
    expect(items.map(({ title }) => title)).toEqual(['title 0']);
    own.remove();
  });
});

async function makeTwo(own: PlaceInProcess): Promise<void> {
  await own.output(['models']);
  await makeSessions(own, 2);
}
