// The ids of a batch, cut into calls: one id each, or many.
import type { BatchEntry } from './id-list.ts';

/** The ids of a call. A repetition stands behind the id before it, and is not sent. */
export type Task = readonly BatchEntry[];

/** `size`: the distinct ids that the next call may have. */
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
