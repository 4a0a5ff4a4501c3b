// The program of a process for long reads: orders come in as messages, and results go out. It has a connection of its own, which it opens
// at the first order. compose/served-store-worker.ts gives it the rules.
import { setPriority } from 'node:os';
import type { ErrorCode, ErrorFacts } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import type { Rows, SearchFilter, SessionFilter } from '../session-filters.ts';
import type { SearchRules } from '../store-rules.ts';
import { Connection } from './connection.ts';
import type { SqliteDriver, SqliteDriverName } from './driver.ts';
import { chooseDriver } from './driver-choice.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { type SearchTools, searchReads } from './search.ts';
import { type Backlog, type Indexed, indexStep } from './search-index.ts';
import { listSessions } from './session-pages.ts';
import { storeError } from './sqlite-errors.ts';
import { atOnce } from './steps.ts';

/** The argument that the process is started with, as JSON. */
export interface StorePlace {
  readonly path: string;
  readonly lockWaitMs: number;
  readonly driver: SqliteDriverName;
}

export type ReadOrder =
  | { readonly kind: 'search'; readonly projectId: string; readonly filter: SearchFilter }
  | { readonly kind: 'list'; readonly projectId: string; readonly filter: SessionFilter };

/** `index`: add some waiting messages to the search indexes. */
export type WorkerOrder = ReadOrder | { readonly kind: 'index'; readonly backlog: Backlog };

type WorkerResult = SearchPage | Rows<Session> | Indexed | null;

export type WorkerAnswer =
  | { readonly value: WorkerResult }
  | { readonly code: ErrorCode; readonly message: string; readonly facts: ErrorFacts };

/** The messages of a process: first that it is ready for orders, then one answer per order. */
export type WorkerMessage = 'ready' | WorkerAnswer;

class StoreWorker {
  readonly #path: string;
  readonly #driver: SqliteDriverName;
  readonly #wait: LockWait;
  readonly #rules: SearchRules;
  #opened: Connection | null = null;

  constructor({ path, lockWaitMs, driver }: StorePlace, rules: SearchRules) {
    this.#path = path;
    this.#driver = driver;
    this.#rules = rules;
    this.#wait = { waitMs: lockWaitMs, random: Math.random };
  }

  async answer(order: WorkerOrder): Promise<WorkerAnswer> {
    try {
      this.#opened ??= connect(await chooseDriver(process.versions, this.#driver), this.#path);
      const tools = { connection: this.#opened, wait: this.#wait };
      return { value: await work(tools, order, this.#rules) };
    } catch (error) {
      // An error loses its own fields on the way to another process, so they are sent as plain values.
      const { code, message, hint, details } = storeError(error, this.#path);
      return { code, message, facts: { hint, details } };
    }
  }
}

async function work(tools: SearchTools, order: WorkerOrder, rules: SearchRules): Promise<WorkerResult> {
  if (order.kind === 'index') return indexInTransaction(tools, order.backlog);
  lowerPriority();
  const { kind, projectId, filter } = order;
  if (kind === 'search') return rules.search(filter, searchReads(tools, projectId, filter, rules));
  const { connection, wait } = tools;
  const list = () => atOnce(listSessions(connection, projectId, filter));
  return whenUnlocked(() => connection.readSnapshot(list), wait);
}

/** The server has priority 0, a slow read 10 (store-process.ts). */
const priorityOfReads = 5;

/**
 * Lowers the priority of a read below that of the server. An `index` order keeps the server's priority, because other writes wait for
 * it.
 */
function lowerPriority(): void {
  try {
    setPriority(priorityOfReads);
  } catch {}
}

function connect(driver: SqliteDriver, path: string): Connection {
  const connection = Connection.open(driver, path);
  connection.setUp();
  return connection;
}

async function indexInTransaction(
  { connection, wait }: SearchTools,
  backlog: Backlog,
): Promise<Indexed | null> {
  await whenUnlocked(() => connection.run('BEGIN IMMEDIATE'), wait);
  try {
    const indexed = indexStep(connection, backlog);
    connection.run('COMMIT');
    return indexed;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

/** Reports that this process is ready, and answers each order until the process is ended. */
export function answerOrders(rules: SearchRules): void {
  const worker = new StoreWorker(JSON.parse(process.argv[2] ?? '') as StorePlace, rules);
  // The process ends with its parent: the channel closes, and nothing else keeps the process running. A terminal or a service sends its
  // signals to all processes, but the parent may still wait for answers, so this process ignores them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  process.on('message', async (order: WorkerOrder) => {
    const answer = await worker.answer(order);
    if (process.connected) process.send?.(answer);
  });
  process.send?.('ready' satisfies WorkerMessage);
}
