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
    const own = Math.floor(entry.number / size());
    const isOver = distinct >= size() || (distinct > 0 && own !== block);
    if (entry.number >= 0) block = own;
    if (entry.number >= 0 && isOver) {
      yield task;
      task = [];
      distinct = 0;
    }
    task.push(entry);
    if (entry.number >= 0) distinct += 1;
  }
  if (task.length > 0) yield task;
}

/** The entries that are sent. */
export function distinctOf(task: Task): Task {
  return task.filter(({ number }) => number >= 0);
}
