// Divides the ids of a batch into calls.
import type { BatchEntry } from './id-list.ts';

/** The ids of a call. A repetition follows its id and is not sent. */
export type Task = readonly BatchEntry[];

/**
 * `size` is the most distinct ids of the next call. The numbers of a call are within one block of that size, so that a resumed batch makes the
 * same calls again.
 */
export function* tasksOf(entries: Iterable<BatchEntry>, size: () => number): Generator<Task> {
  let task: BatchEntry[] = [];
  let distinct = 0;
  let block = 0;
  for (const entry of entries) {
    if (entry.number >= 0) {
      const own = Math.floor(entry.number / size());
      if (distinct >= size() || (distinct > 0 && own !== block)) {
        yield task;
        task = [];
        distinct = 0;
      }
      block = own;
      distinct += 1;
    }
    task.push(entry);
  }
  if (task.length > 0) yield task;
}

/** The entries that are sent. */
export function distinctOf(task: Task): Task {
  return task.filter(({ number }) => number >= 0);
}

/** The number of the last entry that is sent; -1 if there is none. */
export function lastNumberOf(task: Task): number {
  return task.findLast(({ number }) => number >= 0)?.number ?? -1;
}
