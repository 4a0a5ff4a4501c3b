// The rules that a store asks inside its transactions. A store gets them when it is opened.
import { defaultLimits } from '../service/limits.ts';
import { noOrdering, type SessionOrdering } from '../service/session.ts';
import type { TagChange } from '../service/session-archive.ts';
import { sortedTags, tagForm } from '../service/sorted-tags.ts';
import type { OrderChange, OrderedSession } from '../store/order-change.ts';
import type { StoreRules } from '../store/store-rules.ts';
import { stableJson } from './stable-json.ts';
import { turnRules } from './turn-rules.ts';

export const storeRules: StoreRules = {
  turns: turnRules,
  loadChain: async () => (await import('./audit-chain.ts')).chainEntries,
  loadSearch: async () => (await import('./search-rules.ts')).searchRules,
  // A key that another operation used counts as used for another request. The hash names the operation, but the hash of an older record may
  // not.
  meaningOfKey(used, request) {
    if (used === null) return 'new';
    const isSame = used.isTurn === request.isTurn && isEqual(used.requestHash, request.requestHash);
    return isSame ? 'again' : 'mismatch';
  },
  order: applyOrderChange,
  // Only fields that both sessions have are compared: an older export may lack the code of a failure. A mode or a user of
  // null is unknown: an export from a server that does not send the field has null. The ordering is no part of the conversation.
  isSame(stored, imported) {
    const names = Object.keys(stored) as (keyof typeof stored)[];
    return names.every((name) => {
      if (Object.hasOwn(noOrdering, name)) return true;
      const isGiven = Object.hasOwn(imported, name) && (!unknownIfNull.has(name) || imported[name] !== null);
      return !isGiven || stableJson(stored[name]) === stableJson(imported[name]);
    });
  },
};

const unknownIfNull: ReadonlySet<unknown> = new Set(['mode', 'user']);

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** The ordering of a session after a change. Null if the session would have too many tags. A session that has too many already may lose some. */
function applyOrderChange(current: SessionOrdering, change: OrderChange): OrderedSession | null {
  const { pinned = current.pinned, archived = current.archived } = change;
  const tags = change.tags === undefined ? current.tags : changeTags(current.tags, change.tags);
  const gainedTags = tags.filter((tag) => !current.tags.includes(tag));
  if (gainedTags.length > 0 && tags.length > defaultLimits.tags) return null;
  const lostTags = current.tags.filter((tag) => !tags.includes(tag));
  const changed = [
    ...(pinned === current.pinned ? [] : ['pinned']),
    ...(archived === current.archived ? [] : ['archived']),
    ...sortedTags([...gainedTags, ...lostTags]),
  ];
  return { ordering: { pinned, archived, tags }, changed };
}

function changeTags(current: readonly string[], change: readonly string[] | TagChange): readonly string[] {
  if (!('add' in change)) return sortedTags(change);
  const removedTags = change.remove.map(tagForm);
  return sortedTags([...current, ...change.add].filter((tag) => !removedTags.includes(tagForm(tag))));
}
