// Texts that were erased in each way that Parley offers: no byte of them is left in the files of Parley or of PostgreSQL, in logs, journals, the
// audit log, or a later backup.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { textsInFiles } from '../support/remaining-texts.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres([]);
}, 60_000);
afterAll(() => database.stop());

const texts = {
  person: 'canary-of-a-person',
  user: 'Canary Jane',
  redacted: 'canary-that-is-redacted',
  secret: 'ghp_Canary0000000000000000000000000000',
  purged: 'canary-that-is-purged',
  ephemeral: 'canary-that-is-ephemeral',
};

test.each(['SQLite', 'PostgreSQL'])(
  'leave no byte in any file of %s',
  async (kind) => {
    const place = removeAfterTest(new PlaceInProcess());
    const isSqlite = kind === 'SQLite';
    const store = `postgres://${database.user}@127.0.0.1:${database.port}/postgres`;
    const env = isSqlite ? {} : { PARLEY_STORE: store };
    const parley = (...words: readonly string[]) => place.output(words, { env });
    await parley('keys', 'create', '--project', 'default', '--use');
    const key = (await parley('keys', 'create', '--project', 'default')).trim();
    const served = await servePlace(place, ['--log-format', 'json'], env);
    const ask = async (path: string, body: object, method = 'POST') => {
      const headers = {
        ...{ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(method === 'POST' && {
          'Idempotency-Key': randomUUID(),
        }),
      };
      const response = await fetch(served.url + path, { method, headers, body: JSON.stringify(body) });
      expect(response.status).toBe(200);
      return (await response.json()).data;
    };
    const say = async (text: string, more: object = {}): Promise<string> => {
      const { session_id } = await ask('/v1/chat', { mode: 'echo', message: text, ...more });
      await ask('/v1/chat', { mode: 'echo', message: `again ${text}`, session_id });
      await ask(`/v1/sessions/${session_id}/regenerate`, {});
      await ask(`/v1/sessions/${session_id}/undo`, {});
      return session_id;
    };
    await say('what stays');
    const person = await say(texts.person, { user: texts.user, system: texts.person });
    const redacted = await say(`${texts.redacted} and ${texts.secret}`);
    const purged = [
      await say(texts.purged),
      await say(texts.purged, { parameters: { stop: [texts.purged] } }),
    ];
    await fetch(`${served.url}/v1/sessions/search?q=${texts.purged}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    await parley('chat', '--ephemeral', '-n', '-m', 'echo', texts.ephemeral);
    await parley('sessions', 'tag', person, ...purged, '--add', 'seen', '--yes');
    await parley('sessions', 'delete', ...purged, '--yes');

    const files = async () => {
      if (isSqlite) return textsInFiles(place.path, Object.values(texts));
      await database.rows('CHECKPOINT');
      const [row] = await database.rows('SHOW data_directory');
      const base = join((row as { readonly data_directory: string }).data_directory, 'base');
      const found = await Promise.all(
        [place.path, base].map((one) => textsInFiles(one, Object.values(texts))),
      );
      return [...new Set(found.flat())];
    };
    const { ephemeral: _, ...storedTexts } = texts;
    expect((await files()).toSorted()).toEqual(Object.values(storedTexts).toSorted());

    await parley('sessions', 'purge', '--user', texts.user, '--yes');
    await parley('sessions', 'purge', '--deleted-before', '0d', '--confirm', '3');
    await parley(
      'sessions',
      'redact',
      redacted,
      '--message',
      '0',
      '--message',
      '1',
      '--message',
      '2',
      '--message',
      '3',
      '--yes',
    );
    if (!isSqlite) await database.rows('VACUUM FULL');
    const logs = join(place.path, 'logs');
    mkdirSync(logs);
    const { out, err } = await served.end('SIGTERM');
    writeFileSync(join(logs, 'served'), `${out}${err}`);
    expect(err).toContain('/v1/chat');
    await parley('store', 'backup', join(logs, 'afterwards.backup'), '--with-keys');
    writeFileSync(join(logs, 'audit.jsonl'), await parley('audit', 'export'));
    await parley('sessions', 'export', '--all', '--format', 'json', '-o', join(logs, 'all.jsonl'));
    expect(await files()).toEqual([]);
    expect((await parley('sessions', 'list', '--ids')).trim().split('\n')).toHaveLength(2);
  },
  60_000,
);
