// The commands of the section "For admins" of docs/admin.md are run line by line. Only placeholders are replaced.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { KeyRecord } from '../../src/service/administration.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { RawDatabase } from '../support/raw-database.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { makeSessions } from '../support/stored.ts';

const document = readFileSync(fileURLToPath(new URL('../../docs/admin.md', import.meta.url)), 'utf8');

function commandsOf(section: string): readonly string[] {
  const text = document.slice(document.indexOf(`## ${section}`));
  const [, block = ''] = /```sh\n(.*?)```/s.exec(text) ?? [];
  return block.split('\n').filter((line) => line !== '');
}

test('every line of the section for admins works', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  await place.output(['models']);
  await makeSessions(place, 3, 'tmp');
  const listed = await makeSessions(place, 3, 'listed');
  const aged = await makeSessions(place, 4, 'aged');
  writeFileSync(join(place.path, 'ids.txt'), listed.join('\n'));
  const store = new RawDatabase(place.storeFile);
  const longAgo = Date.now() - 40 * 24 * 60 * 60 * 1000;
  for (const id of aged)
    store.prepare('UPDATE sessions SET updated_at = ? WHERE session_id = ?').run(longAgo, id);
  store.close();

  const commands = commandsOf('For admins');
  expect(commands.length).toBeGreaterThan(10);
  const said = new Map<string, string>();
  let batch = '';
  let key = '';
  for (const command of commands) {
    if (command.includes('sessions purge') && !command.includes('--confirm')) {
      // A session that was deleted long ago, for the purge.
      await place.output(['sessions', 'delete', ...listed.slice(0, 2), '--yes']);
      const old = new RawDatabase(place.storeFile);
      old
        .prepare('UPDATE sessions SET deleted_at = ? WHERE session_id IN (?, ?)')
        .run(longAgo, listed[0], listed[1]);
      old.close();
    }
    const line = command
      .replace('BATCH', batch)
      .replace(/key_\S+…/, key)
      .replace('--confirm 12', '--confirm 2');
    const { status, out, err } = await place.shell(`set -o pipefail; ${line}`);
    expect({ line, status, err: status === 0 ? '' : err }).toEqual({ line, status: 0, err: '' });
    said.set(command.replace(/ *#.*/, ''), out);
    batch = /restore --batch (\S+)/.exec(err)?.[1] ?? batch;
    if (line.startsWith('parley keys create')) {
      key =
        (await place.answer<readonly KeyRecord[]>(['keys', 'list'])).find(
          ({ project_name }) => project_name === 'billing',
        )?.key_id ?? '';
    }
  }
  const lines = (command: string) => (said.get(command) ?? '').split('\n').slice(0, -1).sort();
  const each = (word: string, ids: readonly string[]) => ids.map((id) => `${word} ${id}`).sort();
  expect(lines('parley sessions delete - --yes < ids.txt')).toEqual(each('deleted', listed));
  expect(lines('parley sessions delete --older-than 30d --dry-run')).toEqual(each('would_delete', aged));
  expect(lines('parley sessions delete --older-than 30d --yes')).toEqual(each('deleted', aged));
  expect(lines('parley sessions restore --batch BATCH')).toEqual(each('restored', aged));
  expect(lines('parley sessions restore - < ids.txt')).toEqual(each('restored', listed));
  expect(said.get('parley sessions purge --deleted-before 30d --dry-run')).toMatch(
    /^2 sessions of project default, /,
  );
  expect(said.get('parley sessions purge --deleted-before 30d --confirm 12')).toMatch(
    /^Erased 2 sessions with 0 messages, .*\n.*Integrity check: ok\.$/m,
  );
}, 60_000);
