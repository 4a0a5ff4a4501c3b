// The kinds of batches, with the words for each.
import type { OrderedItem, TagChange } from '../../service/session-archive.ts';

export const batchKinds = {
  delete: { done: 'deleted', question: 'Delete', undo: 'restore' },
  pin: { done: 'pinned', question: 'Pin', undo: 'unpin' },
  unpin: { done: 'unpinned', question: 'Unpin', undo: 'pin' },
  archive: { done: 'archived', question: 'Archive', undo: 'unarchive' },
  unarchive: { done: 'unarchived', question: 'Unarchive', undo: 'archive' },
  tag: { done: 'tagged', question: 'Tag', undo: 'tag' },
} as const;

export type BatchKind = keyof typeof batchKinds;
export type OrderKind = Exclude<BatchKind, 'delete'>;

/** What a batch does. `tags` is null for every kind but `tag`. */
export interface BatchAction {
  readonly kind: BatchKind;
  readonly tags: TagChange | null;
}

/** The change that undoes `tags`, limited to the tags that were changed. */
export function inverseTags({ add, remove }: TagChange, changed: OrderedItem['changed']): TagChange {
  return {
    add: remove.filter((tag) => changed.includes(tag)),
    remove: add.filter((tag) => changed.includes(tag)),
  };
}
