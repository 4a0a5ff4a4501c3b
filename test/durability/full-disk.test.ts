// A full disk, with the real program except for preparations: acknowledged data is intact, nothing is half done, and everything works when
// there is room again. The tests mount a small disk. Where this is not permitted, they are skipped.

import { readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { runs } from '../support/runs.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { storedMessages, storeFaults } from '../support/stored-turns.ts';

const trial = SmallDisk.mount();
trial?.unmount();

describe.skipIf(trial === null)('with the data on a disk of its own', onDataDisk);
describe.skipIf(trial === null)('with the configuration on a disk of its own', onConfigurationDisk);

function onDataDisk() {
  let disk: SmallDisk;
  let place: PlaceInProcess;
  beforeEach(() => {
    disk = mounted();
    place = new PlaceInProcess({ data: join(disk.path, 'data') });
  });
  afterEach(() => {
    place.remove();
    disk.unmount();
  });

  test('every state of a full disk fails clearly, keeps acknowledged data, and recovers', async () => {
    const session = await place.newSession();
    const acknowledged: string[] = [];
    const statuses = new Set<number | null>();
    // Among the sizes are those at which the message fits and its reply does not.
    for (let pagesLeft = 0; pagesLeft < 40; pagesLeft += runs(4, 2)) {
      disk.fill(pagesLeft);
      const message = `${pagesLeft} pages left: ${'word '.repeat(3000)}`;
      const words = ['chat', '--mode', 'echo', '-s', session];
      const { status, out, err } = await place.binary(words, { stdin: message });
      statuses.add(status);
      if (status === 0) acknowledged.push(message);
      else expect({ status, err }).toEqual({ status: 7, err: expect.stringContaining('(STORAGE_FULL)') });
      if (status === 0) expect(out).toBe(`${message}\n`);
      disk.free();
    }
    expect(statuses).toEqual(new Set([0, 7]));
    expect(await place.output(['chat', '-n', '--mode', 'echo', '-s', session, 'room'])).toBe('room\n');
    const whole = storedMessages(place).filter(({ finish_reason }) => finish_reason === 'stop');
    expect(whole.map(({ content }) => content)).toEqual([...acknowledged, 'room']);
    expect(storeFaults(place)).toEqual([]);
  });

  test('stored data can be read, and a write that finds no room is reported', async () => {
    const session = await place.newSession();
    await place.output(['chat', '--mode', 'echo', '-s', session, 'hello there']);
    await place.output(['sessions', 'search', 'there']);
    disk.fill(0);
    const reads = [
      `sessions get ${session}`,
      'sessions list --title-match hello*',
      `sessions messages ${session}`,
      'sessions export --all',
      'sessions search there',
      'keys list',
    ];
    for (const command of reads) {
      const { status, out, err } = await place.binary(command.split(' '));
      expect({ command, status, err }).toEqual({
        command,
        status: 0,
        err: expect.not.stringMatching('full'),
      });
      if (/messages|search|export/.test(command)) expect(out).toContain('there');
    }
    for (const command of ['chat -n --mode echo hi', `sessions rename ${session} title`]) {
      const { status, err } = await place.binary(command.split(' '));
      expect({ command, status, err }).toEqual({
        command,
        status: 7,
        err: expect.stringMatching(/\(STORAGE_FULL\)\nThis was not kept/),
      });
    }
    disk.free();
    await place.output(['chat', '--mode', 'echo', '-s', session, 'not in the index yet']);
    // The process that closes the store last removes the shared file, which a server needs.
    const database = new Database(place.storeFile);
    database.pragma('wal_checkpoint');
    database.close();
    disk.fill(0);
    expect(await place.output(['sessions', 'search', 'index'])).toContain('not in the ⟦index⟧ yet');
    const server = await place.binary(['serve', '--port', '0']);
    expect(server).toMatchObject({ status: 7, err: expect.stringContaining('What was kept is intact.') });
    disk.free();
    expect(await place.output(['chat', '-n', '--mode', 'echo', 'hi'])).toBe('hi\n');
    expect(storeFaults(place)).toEqual([]);
  });

  test('a search without room finds long messages that are not in the index yet', async () => {
    await place.output(['chat', '--mode', 'echo'], { stdin: `a fox and ${'word '.repeat(60_000)}` });
    disk.fill(0);
    const { status, out, err } = await place.binary(['sessions', 'search', 'fox']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toContain('a ⟦fox⟧ and');
  });

  test('a first use without room fails clearly, and succeeds with room', async () => {
    disk.fill(0);
    const { status, err } = await place.binary(['chat', '-n', '--mode', 'echo', 'hi']);
    expect({ status, err }).toEqual({ status: 7, err: expect.stringContaining('(STORAGE_FULL)') });
    disk.free();
    expect(await place.output(['chat', '-n', '--mode', 'echo', 'hi'])).toBe('hi\n');
  });
}

function onConfigurationDisk() {
  let disk: SmallDisk;
  let place: PlaceInProcess;
  beforeEach(() => {
    disk = mounted();
    place = new PlaceInProcess({ config: join(disk.path, 'config') });
  });
  afterEach(() => {
    place.remove();
    disk.unmount();
  });

  test('a first use without room fails clearly, leaves no valid key behind, and succeeds with room', async () => {
    disk.fill(0);
    const { status, err } = await place.binary(['chat', '-n', '--mode', 'echo', 'hi']);
    expect({ status, err }).toEqual({ status: 7, err: expect.stringContaining('(STORAGE_FULL)') });
    expect(statfsSync(disk.path).bavail).toBe(0);
    expect(place.rows('SELECT * FROM api_keys WHERE revoked_at IS NULL')).toEqual([]);
    expect(place.rows('SELECT * FROM sessions')).toEqual([]);
    disk.free();
    expect(await place.output(['chat', '-n', '--mode', 'echo', 'hi'])).toBe('hi\n');
    expect(readdirSync(place.configDirectory).sort()).toEqual([
      'config.json',
      'config.json.last-good',
      'config.lock',
    ]);
    expect(place.rows('SELECT * FROM api_keys WHERE revoked_at IS NULL')).toHaveLength(1);
  });
}

function mounted(): SmallDisk {
  const disk = SmallDisk.mount();
  if (disk === null) throw new Error('a disk could be mounted a moment ago');
  return disk;
}
