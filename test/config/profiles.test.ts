// The operations on profiles.
import { expect, test } from 'vitest';
import {
  findProfile,
  isProfileName,
  listProfiles,
  putProfile,
  putStoreKey,
  removeProfile,
  useProfile,
} from '../../src/config/profiles.ts';
import { emptyConfig, emptyProfile } from '../../src/config/stored-config.ts';

const work = { ...emptyProfile, url: 'https://one.example', key: 'pk_1' };
const stored = putProfile(putProfile(emptyConfig, 'work', work), 'a.b-c_D9', emptyProfile);

test.each(['a', '_', '9', 'a.b-c_D', 'x'.repeat(64), '__proto__', 'constructor'])(
  '%s is a valid name',
  (name) => {
    expect(isProfileName(name)).toBe(true);
  },
);

test.each(['', '-a', '.a', '..', 'a b', 'a/b', 'ä', 'a\n', 'x'.repeat(65)])(
  '%j is no valid name, and nothing is stored',
  (name) => {
    expect(isProfileName(name)).toBe(false);
    expect(() => putProfile(emptyConfig, name, work)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  },
);

test('local exists although nothing is stored, first and current', () => {
  expect(listProfiles(emptyConfig)).toEqual([{ ...emptyProfile, name: 'local', isCurrent: true }]);
  expect(findProfile(emptyConfig, 'local')).toEqual(emptyProfile);
});

test('local is the embedded service whatever the file says, and takes no URL or key', () => {
  const edited = { ...emptyConfig, profiles: { local: { ...work, mode: 'echo' } } };
  expect(findProfile(edited, 'local')).toEqual({ ...emptyProfile, mode: 'echo' });
  expect(() => putProfile(emptyConfig, 'local', work)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  expect(
    findProfile(putProfile(emptyConfig, 'local', { ...emptyProfile, mode: 'echo' }), 'local')?.mode,
  ).toBe('echo');
});

test('profiles are listed local first, then by name, and the one in use is marked', () => {
  const listed = listProfiles(useProfile(stored, 'work'));
  expect(listed.map(({ name, isCurrent }) => [name, isCurrent])).toEqual([
    ['local', false],
    ['a.b-c_D9', false],
    ['work', true],
  ]);
});

test('an unknown profile is neither used nor removed, and the error names those there are', () => {
  for (const change of [useProfile, removeProfile]) {
    expect(() => change(stored, 'wrok')).toThrow(
      expect.objectContaining({ code: 'CONFIG', hint: expect.stringContaining('local, a.b-c_D9, work') }),
    );
  }
});

test('removing the profile in use leaves the built-in one in use; local cannot be removed', () => {
  const removed = removeProfile(useProfile(stored, 'work'), 'work');
  expect(removed.current).toBeNull();
  expect(Object.keys(removed.profiles)).toEqual(['a.b-c_D9']);
  expect(removeProfile(useProfile(stored, 'work'), 'a.b-c_D9').current).toBe('work');
  expect(() => removeProfile(stored, 'local')).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

test('the key of one data directory does not change the key of another', () => {
  const one = putStoreKey(emptyConfig, 'local', '/one', 'pk_one');
  const both = putStoreKey(one, 'local', '/two', 'pk_two');
  expect(findProfile(both, 'local')?.keys).toEqual({ '/one': 'pk_one', '/two': 'pk_two' });
  expect(findProfile(putStoreKey(both, 'local', '/one', 'pk_new'), 'local')?.keys['/two']).toBe('pk_two');
});
