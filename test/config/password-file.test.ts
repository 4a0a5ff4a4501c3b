// The password file of PostgreSQL.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultPasswordFile, readPasswordFile } from '../../src/config/password-file.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const wanted = { host: 'db.example', port: 5432, database: 'sessions', user: 'ada' };

function passwordFile(text: string, mode = 0o600): string {
  const directory = temporaryDirectory();
  const path = join(directory, 'pgpass');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test('the first matching line gives the password, whatever characters are in it', () => {
  const path = passwordFile(
    '# db.example:5432:sessions:ada:no\nother:*:*:*:no\ndb.example:5432:*:ada:p:a\\\\ss\\:word\n*:*:*:*:late\n',
  );
  expect(readPasswordFile(path, wanted, 'linux')).toBe('p:a\\ss:word');
  expect(readPasswordFile(path, { ...wanted, user: 'bob' }, 'linux')).toBe('late');
  expect(readPasswordFile(path, { ...wanted, host: '/run/postgresql' }, 'linux')).toBe('late');
});

test('a missing file, and a file without a matching line, give no password', () => {
  expect(readPasswordFile('/nowhere/pgpass', wanted, 'linux')).toBeNull();
  expect(readPasswordFile(passwordFile('db.example:5433:*:*:x\nshort:line\n'), wanted, 'linux')).toBeNull();
});

test('a file that others may read is refused', () => {
  const path = passwordFile('*:*:*:*:s3cret\n', 0o644);
  expect(() => readPasswordFile(path, wanted, 'linux')).toThrow(
    expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining(path) }),
  );
});

test('on Windows, whose modes say nothing, a file is read, and the default one is that of psql', () => {
  const path = passwordFile('*:*:*:*:s3cret\n', 0o666);
  expect(readPasswordFile(path, wanted, 'win32')).toBe('s3cret');
  const env = { HOME: '/home/ada', APPDATA: '/Roaming' };
  expect(defaultPasswordFile(env, 'win32')).toBe('/Roaming/postgresql/pgpass.conf');
  expect(defaultPasswordFile(env, 'darwin')).toBe('/home/ada/.pgpass');
});
