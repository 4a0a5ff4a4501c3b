// The thread that a served store searches in: orders come in as messages, and results go out. It has a connection of its own, opened at the
// first order. scripts/build.js makes a file of its own of it.
import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorCode, ErrorFacts } from '../../service/errors.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import type { SearchFilter } from '../session-store.ts';
import { openDatabase } from './binding.ts';
import { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { type SearchTools, searchSessions } from './search.ts';
import { indexStep } from './search-index.ts';
import { storeError } from './sqlite-errors.ts';

/** What a thread is started with. */
export interface SearchPlace {
  readonly path: string;
  readonly lockWaitMs: number;
}

/** Null: take some messages into the indexes. */
export type SearchOrder = { readonly projectId: string; readonly filter: SearchFilter } | null;

export type SearchAnswer =
  | { readonly value: SearchPage | number | null }
  | { readonly code: ErrorCode; readonly message: string; readonly facts: ErrorFacts };

class Searcher {
  readonly #path: string;
  readonly #wait: LockWait;
  #opened: Connection | null = null;

  constructor({ path, lockWaitMs }: SearchPlace) {
    this.#path = path;
    this.#wait = { waitMs: lockWaitMs, random: Math.random };
  }

  async answer(order: SearchOrder): Promise<SearchAnswer> {
    try {
      this.#opened ??= connect(this.#path);
      const tools = { connection: this.#opened, wait: this.#wait };
      const value = order === null ? indexed(tools) : searchSessions(tools, order.projectId, order.filter);
      return { value: await value };
    } catch (error) {
      // An error keeps nothing but its text on its way to another thread.
      const { code, message, hint, details } = storeError(error, this.#path);
      return { code, message, facts: { hint, details } };
    }
  }
}

function connect(path: string): Connection {
  const connection = new Connection(openDatabase(path), path);
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  return connection;
}

async function indexed({ connection, wait }: SearchTools): Promise<number | null> {
  await whenUnlocked(() => connection.run('BEGIN IMMEDIATE'), wait);
  try {
    const reached = indexStep(connection);
    connection.run('COMMIT');
    return reached;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

const searcher = new Searcher(workerData as SearchPlace);
parentPort?.on('message', async (order: SearchOrder) => {
  parentPort?.postMessage(await searcher.answer(order));
});
