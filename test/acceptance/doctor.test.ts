// `parley doctor`: what is used, which check fails, and how to repair it.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { SmallDisk } from '../support/small-disk.ts';

describe('doctor', () => {
  const place = new PlaceInProcess();
  const disk = SmallDisk.mount();
  beforeAll(() => place.output(['models']));
  afterAll(() => {
    disk?.unmount();
    place.remove();
  });

  interface Report {
    readonly ok: boolean;
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly hint: string }[];
  }

  test('reports in words and as JSON what is used and that it works', async () => {
    const out = await place.output(['doctor']);
    const names = [
      'parley',
      'configuration',
      'profile',
      'service',
      'key',
      'opens',
      'store',
      'access',
      'modes',
    ];
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ +/).slice(0, 2)),
    ).toEqual(names.map((name) => ['ok', name]));
    for (const used of [place.configFile, place.storeFile, 'wal', 'synchronous full', 'project default']) {
      expect(out).toContain(used);
    }
    const { ok, checks } = await place.answer<Report>(['doctor']);
    expect({ ok, names: checks.map(({ name }) => name) }).toEqual({ ok: true, names });
  });

  test('lists what it found about many modes, one fact a line, and leaves the JSON as it is', async () => {
    const own = new PlaceInProcess();
    for (let mode = 1; mode <= 5; mode += 1) {
      const server = [
        '--base-url',
        `http://127.0.0.1:${mode}/v1`,
        '--model',
        'a-model',
        '--key',
        `env:KEY_${mode}`,
      ];
      await own.output(['modes', 'add', `mode-${mode}`, ...server]);
    }
    const out = await own.output(['doctor']);
    const indent = ' '.repeat(19);
    expect(out).toContain(
      `\nnote model servers 127.0.0.1:1 has no key: KEY_1 is not set (mode-1)\n${indent}127.0.0.1:2 has no key`,
    );
    expect(out.match(/KEY_\d/g)).toEqual(['KEY_1', 'KEY_2', 'KEY_3', 'KEY_4', 'KEY_5']);
    const { checks } = await own.answer<{ checks: readonly { finding: string }[] }>(['doctor']);
    expect(checks.at(-1)?.finding).toContain('(mode-1); 127.0.0.1:2 has no key');
    own.remove();
  });

  test('names the failed check and its remedy, and continues with the other checks', async () => {
    const env = { PARLEY_API_KEY: 'pk_nope' };
    const { status, out } = await place.parley(['doctor'], { env });
    expect(status).toBe(4);
    expect(out).toMatch(/^ok +store .*\nFAIL access .*\(INVALID_API_KEY\)\n +Unset PARLEY_API_KEY/m);
  });

  test('names a configuration that others can read, as every command does, and the command that mends it', async () => {
    chmodSync(place.configFile, 0o644);
    const { status, out } = await place.parley(['doctor']);
    const warning = /^Warning: Other users can read the keys in .*\(mode 0644\)\. Run: chmod 600 .*\n$/;
    expect(await place.parley(['verify'])).toMatchObject({ status: 0, err: expect.stringMatching(warning) });
    expect(await place.parley(['verify', '--quiet'])).toMatchObject({ status: 0, err: '' });
    expect(status).toBe(2);
    const [, remedy = ''] =
      /^FAIL configuration .*\(mode 0644\)\. \(CONFIG\)\n +Run: (chmod 600 .*)\n/m.exec(out) ?? [];
    expect(out).toMatch(/^ok +store /m);
    expect((await place.shell(`${remedy} && parley doctor`)).status).toBe(0);
    expect(statSync(place.configFile).mode & 0o777).toBe(0o600);
  });

  test('names directories that all users may write to, as every command does, and the command that mends it', async () => {
    const directories = [place.configDirectory, place.dataDirectory];
    const before = directories.map((directory) => statSync(directory).mode & 0o777);
    for (const directory of directories) chmodSync(directory, 0o777);
    const { status, out } = await place.parley(['doctor']);
    const warning =
      /^Warning: Other users can add files to .*config \(mode 0777\) and .*data \(mode 0777\)\. Run: chmod o-w .*\n$/;
    expect(await place.parley(['verify'])).toMatchObject({ status: 0, err: expect.stringMatching(warning) });
    expect(status).toBe(2);
    const [, remedy = ''] = /^FAIL configuration .*\(CONFIG\)\n +Run: (chmod o-w .*)\n/m.exec(out) ?? [];
    expect((await place.shell(`${remedy} && parley doctor`)).status).toBe(0);
    expect((await place.parley(['verify'])).err).toBe('');
    for (const [index, directory] of directories.entries()) chmodSync(directory, before[index] ?? 0o700);
  });

  test.skipIf(disk === null)('reports a full disk although the store on it can be opened', async () => {
    const env = { PARLEY_DATA_DIR: disk?.path };
    await place.output(['models'], { env });
    disk?.fill(14);
    const chat = await place.parley(['chat', '-m', 'echo', 'hi'], { env });
    expectFailure(chat, { status: 7, code: 'STORAGE_FULL' });
    const full = await place.parley(['doctor'], { env });
    expect(full.status).toBe(7);
    expect(full.out).toMatch(
      /^FAIL store .*parley\.db is almost full: \d+ bytes free.*\(STORAGE_FULL\)\n +.*Free some/m,
    );
    disk?.free();
    expect(await place.output(['doctor'], { env })).toMatch(/^ok +store /m);
  });

  test.skipIf(disk === null)('names a disk that is read-only, as in a container', async () => {
    const env = { PARLEY_DATA_DIR: disk?.path };
    // The real program leaves its log. Without a log, SQLite cannot even read on a full disk.
    expect((await place.binary(['chat', '-n', '-m', 'echo', 'hi'], { env })).status).toBe(0);
    disk?.allowWrites(false);
    try {
      expectFailure(await place.binary(['chat', '-n', 'hi'], { env }), { status: 7, code: 'STORE_UNSAFE' });
      const { status, out } = await place.binary(['doctor'], { env });
      expect(status).toBe(7);
      expect(out).toMatch(/^ok +opens .*\nFAIL store .*cannot be read and written .*\(STORE_UNSAFE\)$/m);
    } finally {
      disk?.allowWrites(true);
    }
  });

  test('works on a damaged configuration', async () => {
    const own = new PlaceInProcess();
    await own.output(['models']);
    writeFileSync(own.configFile, 'null');
    const { status, out } = await own.parley(['doctor']);
    expect(status).toBe(2);
    expect(out).toMatch(/^ok +parley .*\nFAIL configuration .*damaged.*\(CONFIG\)\n +.*Restore it: cp /);
    const json = await own.parley(['doctor', '--json']);
    const body = JSON.parse(json.out);
    expect({ status: json.status, success: body.success, ok: body.data.ok }).toEqual({
      status: 2,
      success: false,
      ok: false,
    });
    expect(body.data.checks.filter((check: { ok: boolean }) => !check.ok)[0]).toMatchObject({
      name: 'configuration',
    });
    expect(readFileSync(own.configFile, 'utf8')).toBe('null');
    own.remove();
  });
});
