// Writes that wait together share one transaction, and each has its own result.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { Writer } from '../../../src/store/sqlite/writer.ts';
import { betterSqlite3 } from '../../support/driver.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

function openWriter(waitMs = 100) {
  const path = join(temporaryDirectory(), 'notes.db');
  const statements: string[] = [];
  const database = new Database(path, { timeout: 0, verbose: (sql) => statements.push(String(sql)) });
  onTestFinished(() => {
    database.close();
  });
  database.pragma('journal_mode = WAL');
  database.exec('CREATE TABLE notes (number INTEGER PRIMARY KEY)');
  statements.length = 0;
  const connection = new Connection(betterSqlite3, database, path);
  const writer = new Writer(connection, { waitMs, random: Math.random });
  const note = (number: number) => {
    connection.run('INSERT INTO notes VALUES (@number)', { number });
    return number;
  };
  const notes = () => database.prepare('SELECT number FROM notes').pluck().all();
  const count = (sql: string) => statements.filter((one) => one.startsWith(sql)).length;
  return { writer, note, notes, count, database, path };
}

it('puts 200 concurrent writes into a few transactions', async () => {
  const { writer, note, notes, count } = openWriter();
  const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
  expect(await Promise.all(numbers.map((number) => writer.write(() => note(number))))).toEqual(numbers);
  expect(notes()).toEqual(numbers);
  expect(count('COMMIT')).toBeLessThanOrEqual(5);
});

it('commits a single write without a turn of the event loop', async () => {
  const { writer, note } = openWriter();
  const statements: string[] = [];
  const turned = new Promise<void>((resolve) => setImmediate(resolve)).then(() => statements.push('turned'));
  await writer.write(() => note(1));
  statements.push('written');
  await turned;
  expect(statements).toEqual(['written', 'turned']);
});

it('commits the writes of many callers together, although each round begins long after the one before', async () => {
  const { writer, note, count } = openWriter();
  const [rounds, callers] = [10, 8];
  for (let round = 0; round < rounds; round += 1) {
    // As requests of several connections arrive: in one turn of the event loop, each in a callback of its own.
    const arrivals = Array.from({ length: callers }, async (_, caller) => {
      await new Promise((resolve) => setImmediate(resolve));
      await writer.write(() => note(round * callers + caller));
    });
    await Promise.all(arrivals);
    await delay(3);
  }
  expect(count('COMMIT')).toBeLessThanOrEqual(rounds + 2);
});

it('lets the event loop turn for a caller that does nothing but write', async () => {
  const { writer, note } = openWriter();
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 30);
  let number = 0;
  while (!isOver && number < 100_000) {
    number += 1;
    await writer.write(() => note(number));
    const until = performance.now() + 2; // Longer than writes that follow each other.
    while (performance.now() < until);
  }
  expect(isOver).toBe(true);
  expect(number).toBeLessThan(1000);
});

it('commits long writes in several transactions, in their order, and lets other writes run in between', async () => {
  const { writer, note, notes, count } = openWriter();
  const turns: number[] = [];
  const longWrite = (number: number) =>
    writer.write(() => {
      const start = performance.now();
      while (performance.now() - start < 25);
      return note(number);
    });
  const writes = [1, 2, 3].map(longWrite);
  let hasEnded = false;
  const turn = () => {
    if (hasEnded) return;
    turns.push(notes().length);
    setImmediate(turn);
  };
  setImmediate(turn);
  expect(await Promise.all(writes)).toEqual([1, 2, 3]);
  hasEnded = true;
  expect(notes()).toEqual([1, 2, 3]);
  expect(count('COMMIT')).toBe(3);
  // On a busy machine, two of them may run in one turn.
  expect(turns.filter((number) => number === 1 || number === 2)).not.toEqual([]);
});

it('ends a transaction after a slow write, so that other work runs before the next', async () => {
  const { writer, note, notes, count } = openWriter();
  const turns: number[] = [];
  let turn = 0;
  const ticking = setInterval(() => {
    turn += 1;
  }, 0);
  await Promise.all(
    [1, 2, 3].map((number) =>
      writer.write(() => {
        for (const end = performance.now() + 25; performance.now() < end; );
        turns.push(turn);
        return note(number);
      }),
    ),
  );
  clearInterval(ticking);
  expect(notes()).toEqual([1, 2, 3]);
  expect(count('COMMIT')).toBe(3);
  expect(new Set(turns).size).toBe(3);
});

it('fails the one write that fails, and keeps the others', async () => {
  const { writer, note, notes, count } = openWriter();
  const outcomes = await Promise.allSettled([
    writer.write(() => note(1)),
    writer.write(() => {
      note(2);
      throw new Error('mine');
    }),
    writer.write(() => note(1)),
    writer.write(() => note(3)),
  ]);
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: { message: 'mine' } },
    { status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } },
    { status: 'fulfilled', value: 3 },
  ]);
  expect(notes()).toEqual([1, 3]);
  expect(count('COMMIT')).toBeLessThanOrEqual(2);
});

it('uses savepoints after a failure only, and stops after a while without one', async () => {
  const { writer, note, count } = openWriter();
  const pair = (first: number, second = first + 1) =>
    Promise.allSettled([first, second].map((number) => writer.write(() => note(number))));
  await pair(1);
  expect(count('SAVEPOINT')).toBe(0);
  await pair(3, 3);
  expect(count('SAVEPOINT')).toBe(2);
  await pair(5, 5);
  expect(count('ROLLBACK TO')).toBe(2);
  for (let number = 10; number < 300; number += 2) await pair(number);
  const before = count('SAVEPOINT');
  expect(before).toBeLessThan(150);
  await pair(300);
  expect(count('SAVEPOINT')).toBe(before);
});

it('uses no savepoint for a single write, and undoes all of it when it fails', async () => {
  const { writer, note, notes, count } = openWriter();
  await writer.write(() => note(1));
  await expect(
    writer.write(() => {
      note(2);
      throw new Error('mine');
    }),
  ).rejects.toThrow('mine');
  expect(notes()).toEqual([1]);
  expect(count('SAVEPOINT')).toBe(0);
});

it('settles a write after its commit, never before', async () => {
  const { writer, note, database, path } = openWriter();
  const other = new Database(path, { readonly: true });
  onTestFinished(() => {
    other.close();
  });
  const seen = [1, 2, 3].map(async (number) => {
    await writer.write(() => note(number));
    return [database.inTransaction, other.prepare('SELECT count(*) FROM notes').pluck().get()];
  });
  expect(await Promise.all(seen)).toEqual([
    [false, 3],
    [false, 3],
    [false, 3],
  ]);
});

it('gives each write its own result when the shared transaction is lost', async () => {
  const { writer, note, notes, database } = openWriter();
  const outcomes = await Promise.allSettled([
    writer.write(() => note(1)),
    writer.write(() => {
      note(2);
      database.exec('ROLLBACK'); // SQLite does this by itself on a full disk.
      throw new Error('full');
    }),
    writer.write(() => note(3)),
  ]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(notes()).toEqual([1, 3]);
});

it('accepts writes that arrive while it works', async () => {
  const { writer, note, notes } = openWriter();
  const first = writer.write(() => note(1)).then(() => writer.write(() => note(3)));
  const second = writer.write(() => note(2));
  await Promise.all([first, second]);
  await writer.idle();
  expect(notes()).toEqual([1, 2, 3]);
});

it('lets each write wait for a lock for its own time, whatever waits before it', async () => {
  const { writer, note, path } = openWriter(1000);
  const other = new Database(path);
  onTestFinished(() => {
    other.close();
  });
  other.exec('BEGIN IMMEDIATE');
  const first = expect(writer.write(() => note(1))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
  await delay(50);
  const began = performance.now();
  await expect(writer.write(() => note(2))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
  // After the first write's time it would be 1.95 s.
  expect(performance.now() - began).toBeLessThan(1900);
  await first;
});

it('lets the writes of a failed group wait for a lock together, each for its own time', async () => {
  const { writer, note, notes, database, path } = openWriter(100);
  const other = new Database(path);
  onTestFinished(() => {
    other.close();
  });
  let isLost = false;
  const lose = () => {
    if (!isLost) database.exec('ROLLBACK');
    if (!isLost) other.exec('BEGIN IMMEDIATE'); // As a process that waited for the lock.
    isLost = true;
    throw new Error('mine');
  };
  const stop = new AbortController();
  const began = performance.now();
  const stopped = writer.write(() => note(100), { waitMs: 60_000, signal: stop.signal });
  const lasting = writer.write(() => note(101), { waitMs: 60_000 });
  const short = Array.from({ length: 20 }, (_, number) => writer.write(() => note(number)));
  const isStopped = expect(stopped).rejects.toThrow('stopped');
  setTimeout(() => stop.abort(new Error('stopped')), 20);
  const outcomes = await Promise.allSettled([...short, writer.write(lose)]);
  expect(performance.now() - began).toBeLessThan(1000);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_BUSY' } });
  await isStopped;
  other.exec('COMMIT');
  expect(await lasting).toBe(101);
  expect(notes()).toEqual([101]);
});

it('runs a short write of one party before the many waiting writes of another', async () => {
  const { writer, note, notes, count } = openWriter();
  const lasting = (number: number) => () => {
    for (const end = performance.now() + 25; performance.now() < end; );
    return note(number);
  };
  const many = [1, 2, 3, 4].map((number) => writer.write(lasting(number), { party: 'one' }));
  const short = writer.write(() => note(10), { party: 'other' }).then(notes);
  // The first write takes the longest time of a transaction. The second transaction begins with the other party, and may run one more
  // write.
  const before = await short;
  expect(before).toContain(10);
  expect(before).not.toContain(3);
  expect(await Promise.all(many)).toEqual([1, 2, 3, 4]);
  expect(count('COMMIT')).toBeGreaterThanOrEqual(4);
});

it('lets the parties take turns with their long writes, and runs short writes between two parts', async () => {
  const { writer, note } = openWriter();
  const order: string[] = [];
  function* parts(name: string, first: number): Generator<void, void> {
    for (let part = 0; part < 4; part += 1) {
      note(first + part);
      order.push(name);
      yield;
    }
  }
  const ofOne = [100, 200, 300, 400].map((first) => writer.writeInParts(parts('one', first), 'one'));
  const ofOther = writer.writeInParts(parts('other', 500), 'other');
  const short = writer.write(() => order.push('short'), { party: 'third' });
  await Promise.all([...ofOne, ofOther, short]);
  expect(order[0]).toBe('short');
  expect(order.slice(1, 9)).toEqual(['one', 'other', 'one', 'other', 'one', 'other', 'one', 'other']);
});
