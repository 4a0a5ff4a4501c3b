// What runs in a thread of a served store: orders come in as messages, and results go out. It has a connection of its own, opened at the
// first order. The thread is given its rules where it is put together (compose/served-store-worker.ts).
import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorCode, ErrorFacts } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import type { Rows, SearchFilter, SessionFilter } from '../session-filters.ts';
import type { SearchRule } from '../store-rules.ts';
import { openDatabase } from './binding.ts';
import { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { type SearchTools, searchReads } from './search.ts';
import { indexStep } from './search-index.ts';
import { listSessions } from './session-pages.ts';
import { storeError } from './sqlite-errors.ts';
import { atOnce } from './steps.ts';

/** What a thread is started with. */
export interface StorePlace {
  readonly path: string;
  readonly lockWaitMs: number;
}

export type ReadOrder =
  | { readonly kind: 'search'; readonly projectId: string; readonly filter: SearchFilter }
  | { readonly kind: 'list'; readonly projectId: string; readonly filter: SessionFilter };

/** `index`: take some messages into the search indexes. */
export type ThreadOrder = ReadOrder | { readonly kind: 'index' };

type ThreadResult = SearchPage | Rows<Session> | number | null;

export type ThreadAnswer =
  | { readonly value: ThreadResult }
  | { readonly code: ErrorCode; readonly message: string; readonly facts: ErrorFacts };

class StoreWorker {
  readonly #path: string;
  readonly #wait: LockWait;
  readonly #search: SearchRule;
  #opened: Connection | null = null;

  constructor({ path, lockWaitMs }: StorePlace, search: SearchRule) {
    this.#path = path;
    this.#search = search;
    this.#wait = { waitMs: lockWaitMs, random: Math.random };
  }

  async answer(order: ThreadOrder): Promise<ThreadAnswer> {
    try {
      this.#opened ??= connect(this.#path);
      const tools = { connection: this.#opened, wait: this.#wait };
      return { value: await work(tools, order, this.#search) };
    } catch (error) {
      // An error keeps nothing but its text on its way to another thread.
      const { code, message, hint, details } = storeError(error, this.#path);
      return { code, message, facts: { hint, details } };
    }
  }
}

async function work(tools: SearchTools, order: ThreadOrder, search: SearchRule): Promise<ThreadResult> {
  if (order.kind === 'index') return indexed(tools);
  const { kind, projectId, filter } = order;
  if (kind === 'search') return search(filter, searchReads(tools, projectId, filter));
  const { connection, wait } = tools;
  const list = () => atOnce(listSessions(connection, projectId, filter));
  return whenUnlocked(() => connection.readAtOneMoment(list), wait);
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

/** Answers what this thread is asked, until it is ended. */
export function answerOrders(search: SearchRule): void {
  const worker = new StoreWorker(workerData as StorePlace, search);
  parentPort?.on('message', async (order: ThreadOrder) => {
    parentPort?.postMessage(await worker.answer(order));
  });
}
