// Divides the ids of a batch into calls of one id, or of many.
import type { BatchEntry } from './id-list.ts';

/** The ids of a call. A repetition follows its id and is not sent. */
export type Task = readonly BatchEntry[];

/** `size` is the most distinct ids of the next call. */
export function* tasksOf(entries: Iterable<BatchEntry>, size: () => number): Generator<Task> {
  let task: BatchEntry[] = [];
  let distinct = 0;
  for (const entry of entries) {
    if (entry.number >= 0 && distinct >= size()) {
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
