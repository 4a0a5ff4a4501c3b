// The stored configuration on a real file system: several writers, kills, permissions, damage, and a full disk.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProfileFile } from '../../src/config/profile-file.ts';
import { findProfile, putProfile, putStoreKey, useProfile } from '../../src/config/profiles.ts';
import { emptyConfig, emptyProfile } from '../../src/config/stored-config.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { locks } from '../support/locks.ts';
import { runs } from '../support/runs.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { bundleWorker, type WorkerBundle } from './worker-bundle.ts';

const profilesEach = runs(10, 30);

let worker: WorkerBundle;
beforeAll(async () => {
  worker = await bundleWorker();
});
afterAll(() => worker.remove());

function run(...words: string[]) {
  return execa(process.execPath, [worker.path, ...words]);
}

function profileFile(directory: string): ProfileFile {
  return new ProfileFile({ directory, locks, platform: process.platform });
}

function failure(action: () => unknown): ParleyError {
  try {
    action();
  } catch (error) {
    if (error instanceof ParleyError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('reading', () => {
  test('a missing file is the empty configuration, and none is created', () => {
    const directory = worker.directory();
    expect(profileFile(join(directory, 'none')).read()).toEqual(emptyConfig);
    expect(readdirSync(directory)).toEqual([]);
  });

  test.each([
    ['a pipe that nobody writes to', (path: string) => execFileSync('mkfifo', [path])],
    ['a device without an end', (path: string) => symlinkSync('/dev/zero', path)],
  ])('%s in place of the file is refused at once', (_what, make) => {
    const file = profileFile(worker.directory());
    make(file.path);
    const { code, message } = failure(() => file.read());
    expect([code, message]).toEqual(['CONFIG', `${file.path} cannot be read (not a regular file).`]);
  });

  test('absent fields have their defaults', () => {
    const directory = worker.directory();
    writeFileSync(join(directory, 'config.json'), '{"profiles":{"work":{"url":"https://one.example"}}}');
    expect(profileFile(directory).read()).toEqual({
      ...emptyConfig,
      profiles: { work: { ...emptyProfile, url: 'https://one.example' } },
    });
  });

  test('a file that an editor on Windows saved, with a byte order mark and CRLF, is read and then changed', async () => {
    const file = profileFile(worker.directory());
    writeFileSync(file.path, '\ufeff{\r\n  "current": "work",\r\n  "profiles": {}\r\n}\r\n', { mode: 0o600 });
    expect(file.read().current).toBe('work');
    await file.update((config) => useProfile(config, 'local'));
    expect(readFileSync(file.path, 'utf8')).toMatch(/^\{\n/);
    expect(file.read().current).toBe('local');
  });

  test('a path below a file is refused with the remedy', () => {
    const directory = worker.directory();
    writeFileSync(join(directory, 'file'), '');
    const error = failure(() => profileFile(join(directory, 'file')).read());
    expect(error.code).toBe('CONFIG');
    expect(error.message).toContain(join(directory, 'file', 'config.json'));
    expect(error.hint).toContain('PARLEY_CONFIG_DIR');
  });
});

describe('updating', () => {
  test('stores the change, keeps the rest, and keeps a good copy', async () => {
    const file = profileFile(worker.directory());
    await file.update((config) => putProfile(config, 'work', { ...emptyProfile, key: 'pk_1' }));
    await file.update((config) => useProfile(config, 'work'));
    expect(file.read()).toEqual({
      ...emptyConfig,
      current: 'work',
      profiles: { work: { ...emptyProfile, key: 'pk_1' } },
    });
    expect(readFileSync(file.lastGoodPath, 'utf8')).toBe(readFileSync(file.path, 'utf8'));
  });

  test('unknown fields stay, at every level', async () => {
    const directory = worker.directory();
    const stored = { later: [1], profiles: { work: { url: null, later: { deep: true } } } };
    writeFileSync(join(directory, 'config.json'), JSON.stringify(stored));
    const file = profileFile(directory);
    await file.update((config) => putProfile(config, 'work', { ...emptyProfile, mode: 'echo' }));
    expect(JSON.parse(readFileSync(file.path, 'utf8'))).toMatchObject({
      later: [1],
      profiles: { work: { mode: 'echo', later: { deep: true } } },
    });
  });

  test.each(['__proto__', 'constructor', 'toString', '__internal__'])(
    '%s is a profile name like any other',
    async (name) => {
      const file = profileFile(worker.directory());
      expect(findProfile(file.read(), name)).toBeNull();
      await file.update((config) => putProfile(config, name, { ...emptyProfile, key: 'pk_1' }));
      await file.update((config) => putProfile(config, 'other', emptyProfile));
      expect(findProfile(file.read(), name)).toEqual({ ...emptyProfile, key: 'pk_1' });
      expect(Object.keys(file.read().profiles)).toEqual([name, 'other']);
      expect({}).not.toHaveProperty('key');
    },
  );

  test('a store directory named __proto__ keeps its key', async () => {
    const file = profileFile(worker.directory());
    await file.update((config) => putStoreKey(config, 'local', '__proto__', 'pk_1'));
    expect(Object.entries(findProfile(file.read(), 'local')?.keys ?? {})).toEqual([['__proto__', 'pk_1']]);
  });

  test('a change that throws stores nothing and frees the lock', async () => {
    const file = profileFile(worker.directory());
    await file.update((config) => putProfile(config, 'work', emptyProfile));
    const before = readFileSync(file.path);
    await expect(file.update((config) => useProfile(config, 'none'))).rejects.toMatchObject({
      code: 'CONFIG',
    });
    expect(readFileSync(file.path)).toEqual(before);
    await file.update((config) => useProfile(config, 'work'));
    expect(file.read().current).toBe('work');
  });

  test('a configuration that is a symbolic link stays one', async () => {
    const directory = worker.directory();
    writeFileSync(join(directory, 'dotfile'), '{}');
    mkdirSync(join(directory, 'config'));
    symlinkSync('../dotfile', join(directory, 'config', 'config.json'));
    const file = profileFile(join(directory, 'config'));
    await file.update((config) => putProfile(config, 'work', emptyProfile));
    expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(directory, 'dotfile'), 'utf8')).toContain('"work"');
  });

  test('a file that others may read is named, and private again with the next update', async () => {
    const file = profileFile(worker.directory());
    const data = worker.directory();
    expect(file.exposed(data)).toEqual([]);
    await file.update((config) => putProfile(config, 'work', emptyProfile));
    expect(file.exposed(data)).toEqual([]);
    chmodSync(file.path, 0o644);
    chmodSync(file.lastGoodPath, 0o620);
    writeFileSync(`${file.path}.next`, '{', { mode: 0o666 });
    expect(file.exposed(data)).toEqual([
      { path: file.path, mode: 0o644, isDirectory: false },
      { path: file.lastGoodPath, mode: 0o620, isDirectory: false },
    ]);
    await file.update((config) => useProfile(config, 'work'));
    for (const path of [file.path, file.lastGoodPath]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(file.exposed(data)).toEqual([]);
    chmodSync(data, 0o1777);
    expect(file.exposed(data)).toEqual([{ path: data, mode: 0o777, isDirectory: true }]);
    // PARLEY_DATA_DIR may name something else by mistake: chmod would harm it.
    expect(file.exposed('/dev/null')).toEqual([]);
  });

  test('a directory that cannot be created is named with the remedy', async () => {
    const directory = worker.directory();
    writeFileSync(join(directory, 'file'), '');
    const update = profileFile(join(directory, 'file', 'below')).update((config) =>
      useProfile(config, 'local'),
    );
    await expect(update).rejects.toMatchObject({
      code: 'CONFIG',
      hint: expect.stringContaining('PARLEY_CONFIG_DIR'),
    });
  });

  test(`four processes that write ${profilesEach} profiles each keep all of them`, async () => {
    const directory = worker.directory();
    const prefixes = ['a', 'b', 'c', 'd'];
    await Promise.all(prefixes.map((prefix) => run('write', directory, prefix, String(profilesEach))));
    const { profiles } = profileFile(directory).read();
    for (const prefix of prefixes) {
      for (let index = 0; index < profilesEach; index += 1) {
        expect(profiles[`${prefix}-${index}`]?.key).toBe(`pk_${prefix}_${index}`);
      }
    }
    expect(Object.keys(profiles)).toHaveLength(4 * profilesEach);
    expect(readdirSync(directory).sort()).toEqual(['config.json', 'config.json.last-good', 'config.lock']);
  }, 90_000);

  test('a removed key is in no file that a killed writer has left', async () => {
    const directory = worker.directory();
    const file = profileFile(directory);
    await file.update((config) => putStoreKey(config, 'local', '/data', 'pk_secret'));
    const text = readFileSync(file.path, 'utf8');
    const left = ['config.json.next', 'config.json.next.tmp-5375', '.config.json.last-good.x1.part'];
    for (const name of left) writeFileSync(join(directory, name), text);
    writeFileSync(join(directory, 'config.json.nextcloud'), 'of the user');
    await file.update(() => emptyConfig);
    const files = readdirSync(directory).sort();
    expect(files).toEqual(['config.json', 'config.json.last-good', 'config.json.nextcloud', 'config.lock']);
    for (const name of files) expect(readFileSync(join(directory, name), 'utf8')).not.toContain('pk_secret');
  });

  test('the files of a killed writer do not block the next one', async () => {
    const directory = worker.directory();
    const file = profileFile(directory);
    writeFileSync(`${file.path}.next`, '{"cut');
    const holder = spawn(process.execPath, [worker.path, 'hold', join(directory, 'config.lock')]);
    const [line] = await once(holder.stdout, 'data');
    expect(String(line)).toBe('held\n');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await file.update((config) => putProfile(config, 'work', emptyProfile));
    expect(readdirSync(directory).sort()).toEqual(['config.json', 'config.json.last-good', 'config.lock']);
  });

  test.each(['000', '022', '077'])(
    'under umask %s files are 0600 at most and directories 0700 at most',
    async (mask) => {
      const directory = worker.directory();
      await run('private', directory, mask);
      const allowed = (bits: number) => bits & ~Number.parseInt(mask, 8);
      const found = readdirSync(directory, { recursive: true, withFileTypes: true });
      expect(found).toHaveLength(8);
      for (const entry of found) {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
        expect([allowed(0o700), allowed(0o600), 0o600]).toContain(mode);
        expect(mode & 0o077).toBe(0);
        if (mask === '000') expect(mode).toBe(entry.isDirectory() ? 0o700 : 0o600);
      }
    },
  );
});

test('a file that is far too long is refused before it is read, and so is a copy of that length', async () => {
  const directory = worker.directory();
  const file = profileFile(directory);
  await file.update((config) => putProfile(config, 'work', emptyProfile));
  const long = `{"modes":{"m":"${'x'.repeat(8 * 1024 * 1024)}"}}`;
  writeFileSync(file.path, long);
  const error = failure(() => file.read());
  expect(error.code).toBe('CONFIG');
  expect(error.message).toBe(
    `${file.path} cannot be read (more than 8388608 bytes: ${statSync(file.path).size}).`,
  );
  await expect(file.update((config) => useProfile(config, 'work'))).rejects.toMatchObject({ code: 'CONFIG' });
  expect(statSync(file.path).size).toBe(long.length);
  writeFileSync(file.path, '{}');
  const tooMuch = file.update((config) => ({ ...config, modes: { m: 'x'.repeat(8 * 1024 * 1024) } }));
  await expect(tooMuch).rejects.toMatchObject({ code: 'CONFIG' });
  expect(file.read().modes).toEqual({});
  writeFileSync(file.path, '{');
  expect(failure(() => file.read()).hint).toContain('The last good copy is');
  writeFileSync(file.lastGoodPath, long);
  expect(failure(() => file.read()).hint).toContain('There is no good copy');
});

describe('a damaged file', () => {
  const damages = [
    '',
    '{"profiles":{"work":{"key":"pk_secret',
    '[]',
    '{"current":7}',
    '{"profiles":{"work":{"keys":{"/d":1}}}}',
  ];

  test.each(damages)(
    '%j is never overwritten, and the command in the error restores the last good copy',
    async (damage) => {
      const directory = join(worker.directory(), "it's a $HOME");
      const file = profileFile(directory);
      await file.update((config) => putProfile(config, 'work', { ...emptyProfile, key: 'pk_secret' }));
      const good = readFileSync(file.path, 'utf8');
      writeFileSync(file.path, damage);

      const error = failure(() => file.read());
      await expect(file.update((config) => useProfile(config, 'work'))).rejects.toMatchObject({
        code: 'CONFIG',
      });
      expect(readFileSync(file.path, 'utf8')).toBe(damage);
      expect(error.code).toBe('CONFIG');
      expect(error.message).toContain(file.path);
      expect(error.hint).toContain(file.lastGoodPath);
      expect(error.message + error.hint + error.stack + String(error.cause)).not.toContain('pk_secret');

      execFileSync('sh', ['-c', error.hint.slice(error.hint.indexOf('cp '))]);
      expect(readFileSync(file.path, 'utf8')).toBe(good);
      expect(findProfile(file.read(), 'work')?.key).toBe('pk_secret');
    },
  );

  test.each([null, '{"cut'])(
    'with the copy %j the command in the error moves the file away, and works',
    async (copy) => {
      const file = profileFile(worker.directory());
      writeFileSync(file.path, '{');
      if (copy !== null) writeFileSync(file.lastGoodPath, copy);
      const error = failure(() => file.read());
      expect(error.hint).not.toContain('cp ');
      execFileSync('sh', ['-c', error.hint.slice(error.hint.indexOf('mv '))]);
      expect(file.read()).toEqual(emptyConfig);
      expect(readFileSync(`${file.path}.damaged`, 'utf8')).toBe('{');
    },
  );
});

describe('without room', () => {
  test('every file size limit leaves the complete old configuration or the complete new one', async () => {
    const outcomes = [];
    for (const blocks of [0, 1, 8, 64]) {
      const { file, before } = await prepared(worker.directory());
      // Node ignores SIGXFSZ, but a dependency of conf ends the process by it after the update. A write past the limit is first cut short and
      // then refused, as on a full disk.
      const limited = `ulimit -f ${blocks}; exec "$@"`;
      const words = [process.execPath, worker.path, 'update', dirname(file.path), '20000'];
      outcomes.push(
        outcome(file, before, (await execa('sh', ['-c', limited, 'sh', ...words], { reject: false })).stdout),
      );
    }
    expect(outcomes[0]).toBe('STORAGE_FULL');
    expect(outcomes.at(-1)).toBe('kept');
  });

  const disk = SmallDisk.mount();
  afterAll(() => disk?.unmount());
  test.skipIf(disk === null)(
    'every state of a full disk leaves the complete old configuration or the complete new one',
    async () => {
      const outcomes = [];
      for (const freePages of [0, 1, 2, 4, 16]) {
        const { file, before } = await prepared(join(disk?.path ?? '', `free-${freePages}`));
        disk?.fill(freePages);
        outcomes.push(outcome(file, before, (await run('update', dirname(file.path), '20000')).stdout));
        disk?.free();
      }
      expect(outcomes[0]).toBe('STORAGE_FULL');
      expect(outcomes.at(-1)).toBe('kept');
    },
  );

  async function prepared(directory: string) {
    const file = profileFile(directory);
    await file.update((config) => putProfile(config, 'work', { ...emptyProfile, key: 'pk_1' }));
    return { file, before: readFileSync(file.path, 'utf8') };
  }

  function outcome(file: ProfileFile, before: string, result: string): string {
    const after = readFileSync(file.path, 'utf8');
    expect(['STORAGE_FULL', 'kept']).toContain(result);
    if (result === 'kept') expect(findProfile(file.read(), 'large')?.key).toHaveLength(20_000);
    else expect(after).toBe(before);
    expect([before, after]).toContain(readFileSync(file.lastGoodPath, 'utf8'));
    // A process that was ended by SIGXFSZ leaves a temporary file, which the next update removes.
    const names = readdirSync(dirname(file.path)).filter((name) => !name.includes('.tmp-'));
    expect(names.sort()).toEqual(['config.json', 'config.json.last-good', 'config.lock']);
    return result;
  }
});
