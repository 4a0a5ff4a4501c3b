// The rules that a store asks inside its transactions, as it is given them when it is opened.
import type { StoreRules } from '../store/store-rules.ts';
import { turnRules } from './turn-rules.ts';

export const storeRules: StoreRules = {
  turns: turnRules,
  // A key of another operation is one of another request: the hash names the operation, but an older record may not.
  meaningOfKey(used, request) {
    if (used === null) return 'new';
    const isSame = used.isTurn === request.isTurn && isEqual(used.requestHash, request.requestHash);
    return isSame ? 'again' : 'mismatch';
  },
};

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
