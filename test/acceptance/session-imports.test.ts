// Imports of exported sessions on the command line, embedded and served.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import { echoSession, exportedRecord } from '../support/echo-session.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { servePlace } from '../support/served-place.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

const talk = (...messages: readonly string[]) => echoSession(place, messages);
const stored = (id: string) => exportedRecord(place, id);

describe('sessions import', () => {
  test('an export is imported by a server and exported again without a change', async () => {
    await talk('Größe 😀 日本語', 'line\r\nbreak\u001b[31m \u202e');
    await place.output(['sessions', 'create', '--title', 'empty']);
    const first = await place.output(['sessions', 'export', '--all', '--format', 'json']);
    const elsewhere = new PlaceInProcess();
    const { key } = await elsewhere.answer<CreatedKey>([
      'keys',
      'create',
      '--project',
      'team',
      '--name',
      'ci',
    ]);
    const served = await servePlace(elsewhere);
    try {
      const env = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
      const imported = await place.parley(['sessions', 'import', '-'], { stdin: first, env });
      expect({ status: imported.status, err: imported.err }).toEqual({
        status: 0,
        err: '2 sessions imported.\n',
      });
      const many = await place.parley(['sessions', 'import', '-'], { stdin: first.repeat(10), env });
      expect({ status: many.status, err: many.err }).toEqual({
        status: 0,
        err: '0 sessions imported, 20 unchanged.\n',
      });
      const second = await place.output(['sessions', 'export', '--all', '--format', 'json'], { env });
      expect(second).toBe(first);
      const back = { PARLEY_DATA_DIR: join(place.path, 'another') };
      await place.output(['sessions', 'import', '-', '--quiet'], { stdin: second, env: back });
      expect(await place.output(['sessions', 'export', '--all', '--format', 'json'], { env: back })).toBe(
        first,
      );
    } finally {
      await served.end('SIGTERM');
      elsewhere.remove();
    }
  });

  test('reads a session per line, an array, and one object over many lines, also with a BOM and CRLF', async () => {
    const id = await talk('a');
    const record = await stored(id);
    const named = (session_id: string) => ({ ...record, session: { ...record.session, session_id } });
    const texts = [
      `\ufeff${JSON.stringify(named('ses_a'))}\r\n\r\n${JSON.stringify(named('ses_b'))}`,
      JSON.stringify([named('ses_c'), named('ses_d')]),
      JSON.stringify([named('ses_e'), named('ses_f')], null, 2),
      JSON.stringify(named('ses_g'), null, 2),
    ];
    const path = join(place.path, 'in.json');
    const seen: string[] = [];
    for (const text of texts) {
      writeFileSync(path, text);
      seen.push(...lines(await place.output(['sessions', 'import', path])));
    }
    expect(seen).toEqual([...'abcdefg'].map((letter) => `imported ses_${letter}`));
    expect((await stored('ses_g')).messages).toEqual(record.messages);
  });

  test('gives each session its result: a failure does not affect the others', async () => {
    const id = await talk('a');
    const record = await stored(id);
    const named = (session_id: string) => ({ ...record, session: { ...record.session, session_id } });
    const wrong = { ...named('ses_wrong'), messages: [] };
    const stdin = [named('ses_a'), wrong, '{"half', named('ses_b')]
      .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
      .join('\n');
    const { status, out, err } = await place.parley(['sessions', 'import', '-'], { stdin });
    expect(status).toBe(3);
    expect(lines(out)).toEqual([
      'imported ses_a',
      'failed ses_wrong INVALID_REQUEST',
      'failed line 3 USAGE',
      'imported ses_b',
    ]);
    expect(err).toContain('session.message_count');
    expect(err).toContain('2 sessions imported, 2 failed.');
  });

  test.each([
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['no JSON', 'hello\nthere\n'],
    ['half of a JSON text', '[\n{"session":'],
    ['a number', '7'],
    ['an empty array', '[]'],
  ])('refuses %s', async (_, stdin) => {
    expectFailure(await place.parley(['sessions', 'import', '-'], { stdin }), { status: 2, code: 'USAGE' });
  });

  test('one refused session is exit 2, and so is a missing file', async () => {
    const refused = await place.parley(['sessions', 'import', '-', '--json'], {
      stdin: '{"session":{},"messages":[]}',
    });
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.out)).toMatchObject({
      session_id: 'item 1',
      status: 'failed',
      error: { code: 'INVALID_REQUEST' },
    });
    const nowhere = await place.parley(['sessions', 'import', 'nowhere.json']);
    expectFailure(nowhere, { status: 2, code: 'USAGE' });
    expect(nowhere.err).toContain('The file nowhere.json cannot be read: there is no such file.');
  });
});
