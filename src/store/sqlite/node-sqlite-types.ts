// What Parley uses of node:sqlite. The types of Node 20, the oldest that Parley supports, do not describe that module.
import type { Bindings } from './driver.ts';

export interface DatabaseSync {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): StatementSync;
  exec(sql: string): void;
  close(): void;
}

export interface StatementSync {
  run(bindings: Bindings): { readonly changes: number; readonly lastInsertRowid: number };
  get(bindings?: Bindings): unknown;
  all(bindings: Bindings): unknown[];
  iterate(bindings: Bindings): IterableIterator<unknown>;
  setReadBigInts(enabled: boolean): void;
  setAllowUnknownNamedParameters(enabled: boolean): void;
}
