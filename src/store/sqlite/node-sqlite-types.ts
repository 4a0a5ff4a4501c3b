// What Parley uses of node:sqlite. The types of Node 20, the oldest that Parley supports, do not describe that module.
import type { SqlValue } from './driver.ts';

export interface DatabaseSync {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): StatementSync;
  exec(sql: string): void;
  close(): void;
}

/** The values of `?`, in their order. */
export type CheckedValues = readonly SqlValue[];

export interface StatementSync {
  run(...values: CheckedValues): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: CheckedValues): unknown;
  all(...values: CheckedValues): unknown[];
  iterate(...values: CheckedValues): IterableIterator<unknown>;
  setReturnArrays(enabled: boolean): void;
  setReadBigInts(enabled: boolean): void;
}
