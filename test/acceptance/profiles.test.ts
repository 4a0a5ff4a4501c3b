// Profiles on the command line: their list and their selection; a damaged file is reported with the command that restores it.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectJsonFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const keyForm = /pk_[0-9A-Za-z]{33}/;

describe('profiles', () => {
  let place: PlaceInProcess;
  beforeEach(async () => {
    place = new PlaceInProcess();
    await place.output(['models']);
  });
  afterEach(() => place.remove());

  test('are listed and selected, and determine the mode', async () => {
    const config = JSON.parse(readFileSync(place.configFile, 'utf8'));
    const { local } = config.profiles;
    config.profiles['echoing'] = { ...local, mode: 'echo' };
    writeFileSync(place.configFile, JSON.stringify(config));
    expect(await place.output(['profiles', 'list'])).toBe(
      '*\tlocal\tembedded\t\n\techoing\tembedded\techo\n',
    );
    expect(await place.parley(['profiles', 'use', 'echoing'])).toMatchObject({
      out: '',
      err: 'Profile echoing is now in use.\n',
    });
    expect(await place.answer(['profiles', 'list'])).toEqual([
      { name: 'local', url: null, store: null, mode: null, current: false },
      { name: 'echoing', url: null, store: null, mode: 'echo', current: true },
    ]);
    expect(await place.output(['chat', '-n', 'same'])).toBe('same\n');
    expect(await place.output(['--profile', 'local', 'chat', '-n', 'same'])).not.toBe('same\n');
    expect(await place.output(['chat', '-n', 'same'], { env: { PARLEY_PROFILE: 'local' } })).not.toBe(
      'same\n',
    );
    expect(await place.output(['chat', '-n', 'same'], { env: { PARLEY_MODE: 'eliza' } })).not.toBe('same\n');
    expect(await place.answer(['profiles', 'use', 'local'])).toEqual({ current: 'local' });
  });

  test('a damaged file is refused by every command, not changed, and restored by the command that the error names', async () => {
    const good = readFileSync(place.configFile, 'utf8');
    const damaged = good.slice(0, good.length / 2);
    writeFileSync(place.configFile, damaged);
    for (const args of [
      ['models'],
      ['chat', '-n', 'x'],
      ['profiles', 'list'],
      ['profiles', 'use', 'local'],
      ['keys', 'list'],
    ]) {
      expectJsonFailure(await place.parley([...args, '--json']), { status: 2, code: 'CONFIG' });
      expect(readFileSync(place.configFile, 'utf8')).toBe(damaged);
    }
    const { err } = await place.parley(['models']);
    expect(err).toContain(place.configFile);
    expect(err).not.toMatch(keyForm);
    const restore = /Restore it: (cp .*)\n/.exec(err)?.[1] ?? 'false';
    execFileSync('bash', ['-c', restore]);
    expect(readFileSync(place.configFile, 'utf8')).toBe(good);
    expect((await place.parley(['models'])).status).toBe(0);
  });

  test('a damaged file without a good copy is moved away by the command that the error names', async () => {
    writeFileSync(place.configFile, '{');
    copyFileSync(place.configFile, `${place.configFile}.last-good`);
    const { err } = await place.parley(['models']);
    execFileSync('bash', ['-c', /: (mv .*)\n/.exec(err)?.[1] ?? 'false']);
    expect(existsSync(place.configFile)).toBe(false);
    expect((await place.parley(['models'])).status).toBe(0);
  });

  test('a field of a wrong type is named, and its value is not', async () => {
    writeFileSync(place.configFile, '{"profiles":{"local":{"keys":["pk_secret"]}}}');
    const { err } = await place.parley(['models']);
    expect(err).toContain('profiles.local.keys is not an object');
    expect(err).not.toContain('pk_secret');
  });
});
