// A backend keeps the three contracts: this process, or a server elsewhere. Whoever holds one cannot tell which.
import type { Administration } from './administration.ts';
import type { ConversationService } from './conversation-service.ts';
import type { SessionArchive } from './session-archive.ts';

/** A backend of this process's own store. */
export type EmbeddedBackend = Backend & { readonly administration: Administration };

export interface Backend {
  readonly service: ConversationService;
  readonly archive: SessionArchive;
  /** Null where it cannot be done: a server elsewhere is administered on its own machine. */
  readonly administration: Administration | null;
  /** What it offers beyond the interface document (`archive`, `idempotency`, `stream`); null while that is not known. */
  readonly extensions: readonly string[] | null;
  /** Lets go of files and sockets. Turns in progress are cut and kept first. */
  close(): Promise<void>;
}
