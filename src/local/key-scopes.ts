// The scope that a key needs for each operation. A new operation needs a row here.
import type { ConversationService } from '../service/conversation-service.ts';
import { ParleyError } from '../service/errors.ts';
import { type KeyScope, keyScopes } from '../service/key-limits.ts';
import type { SessionArchive } from '../service/session-archive.ts';

export type KeyedOperation = keyof ConversationService | keyof SessionArchive;

export const neededScope = {
  verify: 'read',
  models: 'read',
  getSession: 'read',
  listSessions: 'read',
  searchSessions: 'read',
  listMessages: 'read',
  createSession: 'chat',
  chat: 'chat',
  regenerate: 'chat',
  undoTurn: 'chat',
  redoTurn: 'chat',
  forkSession: 'chat',
  changeSession: 'chat',
  pinSessions: 'chat',
  tagSessions: 'chat',
  archiveSessions: 'admin',
  deleteSession: 'admin',
  deleteSessions: 'admin',
  restoreSession: 'admin',
  restoreSessions: 'admin',
  importSession: 'admin',
} as const satisfies Record<KeyedOperation, KeyScope>;

/** True if a key of this scope may do what needs the scope `needed`. */
export function allows(scope: KeyScope | null, needed: KeyScope): boolean {
  return scope === null || keyScopes.indexOf(scope) >= keyScopes.indexOf(needed);
}

export function outOfScope(scope: KeyScope | null, needed: KeyScope): ParleyError {
  const message = `The scope of this key, ${scope}, does not allow this: it needs ${needed}.`;
  return new ParleyError('FORBIDDEN', message, {
    hint: 'Nothing was changed. Use a key with that scope.',
  });
}
