// The address of a store: its parts, its defaults, and its password.
import { describe, expect, test } from 'vitest';
import { type AddressOptions, readStoreAddress, type StoreAddress } from '../../src/config/store-address.ts';
import { ParleyError } from '../../src/service/errors.ts';

function read(text: string, options: Partial<AddressOptions> = {}): StoreAddress {
  const usual = { source: 'a test', env: {}, isInsecureAllowed: false, mayHoldPassword: true };
  return readStoreAddress(text, { ...usual, ...options });
}

function refusal(text: string, options: Partial<AddressOptions> = {}): ParleyError {
  try {
    read(text, options);
  } catch (error) {
    if (error instanceof ParleyError) return error;
  }
  throw new Error(`${text} is taken`);
}

describe('the address of a store', () => {
  test('names hosts, user, database and other parameters', () => {
    const text =
      'postgresql://ada%40x@db-1.example:6432,db-2.example/sessions?schema=team&connections=4&patience=30&prepare=no&sslrootcert=/ca.pem&target_session_attrs=read-write';
    expect(read(text)).toEqual({
      hosts: [
        { host: 'db-1.example', port: 6432 },
        { host: 'db-2.example', port: 5432 },
      ],
      ...{ user: 'ada@x', database: 'sessions', schema: 'team', connections: 4, patience: 30 },
      ...{ prepares: false, encryption: 'full', authorityFile: '/ca.pem' },
      password: { kind: 'file', path: null },
      name: 'postgres://db-1.example:6432,db-2.example:5432/sessions?schema=team',
    });
  });

  test('takes missing parts from the variables of PostgreSQL, or means this machine', () => {
    const env = { PGHOST: 'a.example,b.example', PGPORT: '1,2', PGUSER: 'ada', PGPASSFILE: '/pass' };
    expect(read('postgres://', { env })).toMatchObject({
      hosts: [
        { host: 'a.example', port: 1 },
        { host: 'b.example', port: 2 },
      ],
      ...{ user: 'ada', database: 'ada', password: { kind: 'file', path: '/pass' } },
    });
    expect(
      read('postgres://', { env: { USER: 'bob', PGDATABASE: 'x', PGPASSWORD: 's3cret' } }),
    ).toMatchObject({
      hosts: [{ host: 'localhost', port: 5432 }],
      ...{ user: 'bob', database: 'x', encryption: 'none', password: { kind: 'text', value: 's3cret' } },
    });
    expect(read('postgres://u@/db?host=/run/postgresql')).toMatchObject({
      hosts: [{ host: '/run/postgresql', port: 5432 }],
      name: 'postgres:///run/postgresql/db',
    });
    expect(read('postgres://u@[::1]:5433/db').hosts).toEqual([{ host: '[::1]', port: 5433 }]);
  });

  test('shows nothing of a password that is not percent-encoded', () => {
    for (const text of [
      'postgres://u:1234/s3cret@h/db',
      'postgres://u:pass?s3cret@h/db',
      'postgres://u:pass?s3cret=1@h/db',
      'postgres://u:pa/x?s3cret@h/db',
    ]) {
      const { message, hint } = refusal(text, { env: { USER: 'ada' } });
      expect([message, message + hint]).toEqual([
        'The store of a test has an @ after a slash or a question mark.',
        expect.not.stringContaining('s3cret'),
      ]);
      expect(hint).toContain('%2F');
    }
    expect(read('postgres://localhost/db?user=ada@x').user).toBe('ada@x');
  });

  test('keeps a password out of its name, its errors, and the arguments of a process', () => {
    const address = read('postgres://u:s3cret@localhost/db');
    expect(address.name).toBe('postgres://localhost:5432/db');
    expect(address.password).toEqual({ kind: 'text', value: 's3cret' });
    const refused = refusal('postgres://u:s3cret@localhost/db', { mayHoldPassword: false });
    expect(`${refused.message} ${refused.hint}`).not.toContain('s3cret');
    expect(refused).toMatchObject({ code: 'CONFIG', hint: expect.stringContaining('PGPASSWORD') });
    expect(read('postgres://u@localhost/db?password=env:DB_PASSWORD').password).toEqual({
      ...{ kind: 'reference', value: 'env:DB_PASSWORD' },
    });
    const typed = refusal('postgres://u@localhost/db?password=s3cret');
    expect(`${typed.message} ${typed.hint}`).not.toContain('s3cret');
  });

  test.each([
    ['postgres://u@localhost/db', 'none'],
    ['postgres://u@127.0.0.1/db?sslmode=require', 'encrypted'],
    ['postgres://u@db.example/db', 'full'],
    ['postgres://u@localhost,db.example/db', 'full'],
    ['postgres://u@db.example/db?sslmode=verify-full', 'full'],
  ])('is encrypted as its hosts need: %s', (text, encryption) => {
    expect(read(text).encryption).toBe(encryption);
  });

  test.each(['disable', 'allow', 'prefer', 'require', 'verify-ca'])(
    'needs a permission for another machine with sslmode %s',
    (mode) => {
      const text = `postgres://u@db.example/db?sslmode=${mode}`;
      expect(refusal(text)).toMatchObject({ code: 'CONFIG', remedy: { kind: 'allow_insecure_store' } });
      expect(refusal('postgres://u@db.example/db', { env: { PGSSLMODE: mode } }).code).toBe('CONFIG');
      expect(read(text, { isInsecureAllowed: true }).encryption).not.toBe('full');
    },
  );

  test.each([
    ['mysql://u@localhost/db', 'not an address of PostgreSQL'],
    ['postgres://u@localhost/d b', 'not an address of PostgreSQL'],
    ['postgres://localhost/db', 'has no user'],
    ['postgres://u@localhost:99999/db', 'a host or a port'],
    ['postgres://u@localhost/db?color=red', 'color'],
    ['postgres://u@localhost/db?schema=Team"', 'schema'],
    ['postgres://u@localhost/db?schema=pg_team', 'pg_'],
    [`postgres://u@localhost/db?schema=${'x'.repeat(64)}`, '63'],
    ['postgres://u@localhost/db?connections=0', 'connections'],
    ['postgres://u@localhost/db?prepare=maybe', 'prepare'],
    ['postgres://u@localhost/db?sslmode=full', 'sslmode'],
    ['postgres://u@localhost/db?sslmode=constructor', 'sslmode'],
    ['postgres://u@local%host/db', '%'],
  ])('is refused with what is wrong: %s', (text, problem) => {
    expect(refusal(text).message).toContain(problem);
  });
});
