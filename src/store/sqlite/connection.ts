// One open database and its statements, each compiled at its first use and kept: a command that runs three of them must not
// pay for all. What the statements say is with their subjects; when they run is the writer's and the store's business.
import type Database from 'better-sqlite3';

export type Bindings = Readonly<Record<string, string | number | Uint8Array | null>>;

export class Connection {
  readonly path: string;
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement<[Bindings]>>();
  #sharing: object | null = null;
  #isReading = false;
  #isAlone = false;

  constructor(database: Database.Database, path: string) {
    this.#database = database;
    this.path = path;
  }

  get open(): boolean {
    return this.#database.open;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /** Whether no other connection can use the store while this one is open. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** Before anything is read: the store is locked from the first read on, until this is closed. */
  takeAlone(): void {
    this.pragma('locking_mode = EXCLUSIVE');
    this.#isAlone = true;
  }

  /** While reads are shared: an object for this turn of the event loop; null otherwise. */
  get sharing(): object | null {
    return this.#sharing;
  }

  /** Until the event loop turns, what is read is read in one transaction: to open one costs more than most reads. */
  shareReads(): void {
    if (this.#sharing !== null) return;
    this.#sharing = {};
    setImmediate(() => {
      this.#endReading();
      this.#sharing = null;
    });
  }

  /** Runs a read of one or more statements. */
  read<T>(work: () => T): T {
    if (this.#sharing !== null && !this.#isReading) {
      this.#statement('BEGIN').run({});
      this.#isReading = true;
    }
    return work();
  }

  /** Runs a read of several statements that must all see one moment. */
  readAtOneMoment<T>(work: () => T): T {
    if (this.#sharing !== null || this.#database.inTransaction) return this.read(work);
    this.#statement('BEGIN').run({});
    try {
      return work();
    } finally {
      this.#statement('COMMIT').run({});
    }
  }

  /** The first row. `Row` is the caller's word for what its SQL selects. */
  get<Row>(sql: string, bindings: Bindings = {}): Row | undefined {
    return this.#statement(sql).get(bindings) as Row | undefined;
  }

  /** All rows: a statement that stayed open between two rows would keep the log from being shortened. */
  all<Row>(sql: string, bindings: Bindings = {}): Row[] {
    return this.#statement(sql).all(bindings) as Row[];
  }

  /** The rows before the first that is not wanted: what comes after it is not read. */
  allWhile<Row>(sql: string, bindings: Bindings, isWanted: (row: Row) => boolean): Row[] {
    const rows: Row[] = [];
    for (const row of this.#statement(sql).iterate(bindings) as Iterable<Row>) {
      if (!isWanted(row)) break;
      rows.push(row);
    }
    return rows;
  }

  run(sql: string, bindings: Bindings = {}): { readonly changes: number; readonly rowId: number } {
    this.#endReading();
    const { changes, lastInsertRowid } = this.#statement(sql).run(bindings);
    return { changes, rowId: Number(lastInsertRowid) };
  }

  /** Several statements at once, without values and without keeping them. */
  execute(sql: string): void {
    this.#endReading();
    this.#database.exec(sql);
  }

  /** The first value that a pragma answers with. */
  pragma(text: string): unknown {
    this.#endReading();
    return this.#database.pragma(text, { simple: true });
  }

  rollback(): void {
    // A full disk or a failed write makes SQLite roll back by itself: then there is nothing to do.
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
  }

  close(): void {
    this.#isReading = false;
    this.#statements.clear();
    this.#database.close();
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (this.#database.inTransaction) this.#statement('COMMIT').run({});
  }

  #statement(sql: string): Database.Statement<[Bindings]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare<[Bindings]>(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
