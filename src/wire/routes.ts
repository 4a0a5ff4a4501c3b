// The method and the path of each operation (interface document, section 4; the archive is this service's own). A new operation is a new row
// here. The compiler then requires its handler in server and its call in remote.
import type { ConversationService } from '../service/conversation-service.ts';
import type { Extension } from '../service/extensions.ts';
import type { SessionArchive } from '../service/session-archive.ts';

export type Operation = keyof ConversationService | keyof SessionArchive;

/** The operations whose response may be a stream of chat events. */
export type StreamedOperation = 'chat' | 'regenerate';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `:id` stands for a session id, percent-encoded as one segment. */
  readonly path: string;
  /** The extension that a server must offer for the operation; null for the operations that every server has. */
  readonly extension: Extension | null;
}

export const routes = {
  verify: { method: 'POST', path: '/v1/auth/verify', extension: null },
  models: { method: 'GET', path: '/v1/models', extension: null },
  chat: { method: 'POST', path: '/v1/chat', extension: null },
  createSession: { method: 'POST', path: '/v1/sessions', extension: null },
  getSession: { method: 'GET', path: '/v1/sessions/:id', extension: null },
  deleteSession: { method: 'DELETE', path: '/v1/sessions/:id', extension: null },
  listSessions: { method: 'GET', path: '/v1/sessions', extension: 'archive' },
  searchSessions: { method: 'GET', path: '/v1/sessions/search', extension: 'archive' },
  listMessages: { method: 'GET', path: '/v1/sessions/:id/messages', extension: 'archive' },
  changeSession: { method: 'PATCH', path: '/v1/sessions/:id', extension: 'archive' },
  restoreSession: { method: 'POST', path: '/v1/sessions/:id/restore', extension: 'archive' },
  deleteSessions: { method: 'POST', path: '/v1/sessions/batch-delete', extension: 'archive' },
  restoreSessions: { method: 'POST', path: '/v1/sessions/batch-restore', extension: 'archive' },
  pinSessions: { method: 'POST', path: '/v1/sessions/batch-pin', extension: 'order' },
  archiveSessions: { method: 'POST', path: '/v1/sessions/batch-archive', extension: 'order' },
  tagSessions: { method: 'POST', path: '/v1/sessions/batch-tag', extension: 'order' },
  importSession: { method: 'POST', path: '/v1/sessions/import', extension: 'archive' },
  regenerate: { method: 'POST', path: '/v1/sessions/:id/regenerate', extension: 'lines' },
  undoTurn: { method: 'POST', path: '/v1/sessions/:id/undo', extension: 'lines' },
  redoTurn: { method: 'POST', path: '/v1/sessions/:id/redo', extension: 'lines' },
  forkSession: { method: 'POST', path: '/v1/sessions/:id/fork', extension: 'lines' },
} as const satisfies Record<Operation, Route>;

export function isStreamed(operation: Operation): operation is StreamedOperation {
  return operation === 'chat' || operation === 'regenerate';
}
