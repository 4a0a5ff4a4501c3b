// The libraries for SQLite: all libraries of this Node behave in the same way.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SqliteDatabase } from '../../../src/store/sqlite/driver.ts';
import { storeError } from '../../../src/store/sqlite/sqlite-errors.ts';
import { allDrivers } from '../../support/driver.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe.each(allDrivers)('$name', (driver) => {
  function closedAtEnd(database: SqliteDatabase): SqliteDatabase {
    onTestFinished(() => database.close());
    return database;
  }

  function openFile(name = 'notes.db'): { readonly database: SqliteDatabase; readonly path: string } {
    const path = join(temporaryDirectory(), name);
    writeFileSync(path, '');
    const database = closedAtEnd(driver.open(path));
    database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)');
    return { database, path };
  }

  const openMemory = () => closedAtEnd(driver.openInMemory());

  const codeOf = (work: () => unknown): unknown => {
    try {
      work();
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
    return null;
  };

  test('a file that does not exist is refused and not made', () => {
    const path = join(temporaryDirectory(), 'none.db');
    expect(codeOf(() => driver.open(path))).toBe('SQLITE_CANTOPEN');
    expect(
      storeError(
        caught(() => driver.open(path)),
        path,
      ),
    ).toMatchObject({ code: 'STORE_UNSAFE' });
  });

  test.each(['a b.db', 'a%20b.db', 'a?mode=memory.db', 'a#b.db', 'ä.db'])(
    'a file may have the name %j',
    (name) => {
      const { database, path } = openFile(name);
      database.prepare('INSERT INTO notes (text) VALUES (@text)').run({ text: 'kept' });
      const other = closedAtEnd(driver.open(path));
      expect(other.prepare('SELECT text FROM notes').get({})).toEqual({ text: 'kept' });
    },
  );

  test('text, blobs, numbers and NULL are read as they were written', () => {
    const database = openMemory();
    const echo = database.prepare('SELECT @one AS one, @two AS two, @three AS three, @four AS four');
    const bytes = Uint8Array.of(0, 255, 7);
    for (const one of ['', 'a\0b', 'é😀', -0.5, 2 ** 52 + 1, -(2 ** 53)]) {
      const row = echo.get({ one, two: bytes, three: null, four: new Uint8Array() }) as Record<
        string,
        unknown
      >;
      expect([row['one'], row['three']]).toEqual([one, null]);
      expect(Uint8Array.from(row['two'] as Uint8Array)).toEqual(bytes);
      expect(row['two']).toBeInstanceOf(Uint8Array);
      expect(row['four']).toHaveLength(0);
    }
    expect(echo.all({ one: 1, two: 2, three: 3, four: 4 })).toEqual([{ one: 1, two: 2, three: 3, four: 4 }]);
  });

  test('an integer beyond 2^53 is rounded', () => {
    const database = openMemory();
    const statement = database.prepare('SELECT 9007199254740993 AS large, 5 AS small, @text AS text');
    const row = { large: 9007199254740992, small: 5, text: 'a' };
    expect(statement.get({ text: 'a' })).toEqual(row);
    expect(statement.all({ text: 'a' })).toEqual([row]);
    expect([...statement.iterate({ text: 'a' })]).toEqual([row]);
    const several = database.prepare('SELECT 1 AS one UNION ALL SELECT 9007199254740993 UNION ALL SELECT 3');
    expect([...several.iterate({})]).toEqual([{ one: 1 }, { one: 2 ** 53 }, { one: 3 }]);
    expect(database.prepare('SELECT 1 AS one').get({})).toEqual({ one: 1 });
  });

  test('a value without a parameter is ignored, a parameter without a value is refused', () => {
    const database = openMemory();
    const statement = database.prepare('SELECT @a AS a, @b AS b');
    expect(statement.get({ a: 1, b: 2, c: 3 })).toEqual({ a: 1, b: 2 });
    for (const read of [() => statement.get({ a: 1 }), () => statement.all({ a: 1 })])
      expect(read).toThrow('Missing named parameter "b"');
    expect(() => database.prepare('SELECT @a').get({ a: true as never })).toThrow(TypeError);
    expect(statement.get({ a: undefined as never, b: 2 })).toEqual({ a: null, b: 2 });
  });

  test('a write reports how many rows it changed and the last row id', () => {
    const { database } = openFile();
    const insert = database.prepare('INSERT INTO notes (text) VALUES (@text)');
    expect(insert.run({ text: 'a' })).toMatchObject({ changes: 1, lastInsertRowid: 1 });
    expect(insert.run({ text: 'b' })).toMatchObject({ changes: 1, lastInsertRowid: 2 });
    const update = database.prepare('UPDATE notes SET text = @text WHERE id > @after');
    expect(update.run({ text: 'c', after: 0 })).toMatchObject({ changes: 2 });
    expect(update.run({ text: 'c', after: 9 })).toMatchObject({ changes: 0 });
  });

  test('values may be given by their places, each of them, and rows come as values of columns', () => {
    const { database } = openFile();
    const insert = database.prepare('INSERT INTO notes (text, bytes) VALUES (?, ?)');
    expect(insert.run(['a', null])).toMatchObject({ changes: 1, lastInsertRowid: 1 });
    expect(insert.run(['b', Uint8Array.of(7)])).toMatchObject({ changes: 1, lastInsertRowid: 2 });
    for (const values of [['a'], ['a', null, 1]]) expect(() => insert.run(values)).toThrow(RangeError);
    const places = database.prepare('SELECT text FROM notes WHERE id = ?');
    expect([places.get([2]), places.all([1])]).toEqual([{ text: 'b' }, [{ text: 'a' }]]);
    const rows = database.prepare('SELECT id, text, 9007199254740993 AS large FROM notes ORDER BY id').raw();
    expect(rows.all({})).toEqual([
      [1, 'a', 2 ** 53],
      [2, 'b', 2 ** 53],
    ]);
    const texts = database.prepare('SELECT text, 1 AS text FROM notes WHERE id > @after').raw();
    expect([...texts.iterate({ after: 1 })]).toEqual([['b', 1]]);
  });

  test('RETURNING writes once and answers with the rows', () => {
    const { database } = openFile();
    const insert = database.prepare('INSERT INTO notes (text) VALUES (@text) RETURNING id, text');
    expect(insert.get({ text: 'a' })).toEqual({ id: 1, text: 'a' });
    expect(insert.all({ text: 'b' })).toEqual([{ id: 2, text: 'b' }]);
    expect(database.prepare('SELECT count(*) AS count FROM notes').get({})).toEqual({ count: 2 });
  });

  test('a row that is not there is undefined, and rows that are not there are none', () => {
    const { database } = openFile();
    const statement = database.prepare('SELECT * FROM notes');
    expect([statement.get({}), statement.all({}), [...statement.iterate({})]]).toEqual([undefined, [], []]);
  });

  test('after an iteration that stops early, the statement runs again and others write', () => {
    const { database } = openFile();
    const insert = database.prepare('INSERT INTO notes (text) VALUES (@text)');
    for (const text of ['a', 'b', 'c']) insert.run({ text });
    const statement = database.prepare('SELECT text FROM notes WHERE id > @after ORDER BY id');
    for (const row of statement.iterate({ after: 0 })) {
      expect(row).toEqual({ text: 'a' });
      break;
    }
    insert.run({ text: 'd' });
    expect([...statement.iterate({ after: 2 })]).toEqual([{ text: 'c' }, { text: 'd' }]);
    expect(database.prepare('DROP TABLE notes').run({})).toBeDefined();
  });

  test('a pragma answers with its first value', () => {
    const { database } = openFile();
    const pragma = (text: string) => database.pragma(text, { simple: true });
    expect(pragma('journal_mode = WAL')).toBe('wal');
    expect(pragma('synchronous = FULL')).toBeUndefined();
    expect([pragma('synchronous'), pragma('user_version'), pragma('busy_timeout')]).toEqual([2, 0, 0]);
    expect(pragma('user_version = 7')).toBeUndefined();
    expect(pragma('user_version')).toBe(7);
  });

  test('whether a transaction is open is known, and closing rolls it back', () => {
    const { database, path } = openFile();
    expect(database.inTransaction).toBe(false);
    database.exec("BEGIN; INSERT INTO notes (text) VALUES ('a')");
    expect([database.open, database.inTransaction]).toEqual([true, true]);
    database.close();
    database.close();
    expect(database.open).toBe(false);
    expect(() => database.exec('SELECT 1')).toThrow('database');
    expect(closedAtEnd(driver.open(path)).prepare('SELECT * FROM notes').all({})).toEqual([]);
  });

  test('a lock is met at once', () => {
    const { database, path } = openFile();
    database.pragma('journal_mode = WAL', { simple: true });
    const other = closedAtEnd(driver.open(path));
    database.exec('BEGIN IMMEDIATE');
    expect(codeOf(() => other.exec('BEGIN IMMEDIATE'))).toBe('SQLITE_BUSY');
    expect(codeOf(() => other.prepare("INSERT INTO notes (text) VALUES ('a')").run({}))).toBe('SQLITE_BUSY');
    database.exec('ROLLBACK');
  });

  test('a transaction that began before the last commit cannot write', () => {
    const { database, path } = openFile();
    database.pragma('journal_mode = WAL', { simple: true });
    const other = closedAtEnd(driver.open(path));
    const write = "INSERT INTO notes (text) VALUES ('a')";
    other.exec('BEGIN');
    other.prepare('SELECT count(*) FROM notes').get({});
    database.exec(write);
    expect(codeOf(() => other.prepare(write).run({}))).toBe('SQLITE_BUSY_SNAPSHOT');
  });

  test.each([
    ['SQLITE_ERROR', 'SELECT missing', 'no such column: missing', 'INTERNAL_ERROR'],
    [
      'SQLITE_CONSTRAINT_PRIMARYKEY',
      'INSERT INTO notes (id) VALUES (1), (1)',
      'UNIQUE constraint failed: notes.id',
      'INTERNAL_ERROR',
    ],
    ['SQLITE_CONSTRAINT_TRIGGER', 'DELETE FROM forbidden', 'not allowed', 'INTERNAL_ERROR'],
    [
      'SQLITE_FULL',
      'INSERT INTO notes (bytes) VALUES (zeroblob(40000))',
      'database or disk is full',
      'STORAGE_FULL',
    ],
    ['SQLITE_TOOBIG', 'SELECT zeroblob(2000000000)', 'string or blob too big', 'INTERNAL_ERROR'],
  ])('%s has its name, and is the error that it was', (code, sql, message, parleys) => {
    const { database, path } = openFile();
    database.exec(`CREATE TABLE forbidden (id); INSERT INTO forbidden VALUES (1);
      CREATE TRIGGER guard BEFORE DELETE ON forbidden BEGIN SELECT raise(ABORT, 'not allowed'); END`);
    database.pragma('max_page_count = 8', { simple: true });
    const failure = caught(() =>
      sql.startsWith('SELECT') ? database.prepare(sql).all({}) : database.prepare(sql).run({}),
    );
    expect(failure).toBeInstanceOf(Error);
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(storeError(failure, path)).toMatchObject({ code: parleys });
  });

  test.each([
    ['SQLITE_NOTADB', 'STORE_DAMAGED', 'no database'.repeat(100)],
    ['SQLITE_CANTOPEN_ISDIR', 'STORE_UNSAFE', null],
  ])('%s: %s', (code, parleys, content) => {
    const path = join(temporaryDirectory(), 'file.db');
    if (content === null) mkdirSync(path);
    else writeFileSync(path, content);
    const failure = caught(() =>
      closedAtEnd(driver.open(path)).prepare('SELECT * FROM sqlite_schema').all({}),
    );
    expect((failure as { code: string }).code).toSatisfy((shown: string) => code.startsWith(shown));
    expect(storeError(failure, path)).toMatchObject({ code: parleys });
  });

  test('a file without the right to write can be read, and a write is refused', () => {
    const { database, path } = openFile();
    database.close();
    const other = closedAtEnd(driver.open(path));
    other.pragma('query_only = ON', { simple: true });
    expect(codeOf(() => other.exec("INSERT INTO notes (text) VALUES ('a')"))).toBe('SQLITE_READONLY');
  });

  test('full text is searched with the tokenizers of the store', () => {
    const database = openMemory();
    database.exec(`CREATE VIRTUAL TABLE words USING fts5 (content, tokenize = 'unicode61 remove_diacritics 2');
      CREATE VIRTUAL TABLE pieces USING fts5 (content, tokenize = 'trigram remove_diacritics 1')`);
    for (const table of ['words', 'pieces']) {
      database.prepare(`INSERT INTO ${table} (content) VALUES (@content)`).run({ content: 'Zürich' });
      const found = database.prepare(`SELECT rowid AS id FROM ${table} WHERE ${table} MATCH @text`);
      expect(found.all({ text: 'zurich' })).toEqual([{ id: 1 }]);
    }
  });
});

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
