// A backend fulfils the contracts of this room, in this process or at a server elsewhere. Its caller cannot distinguish the two.
import type { Administration } from './administration.ts';
import type { ConversationService } from './conversation-service.ts';
import type { Extension } from './extensions.ts';
import type { SessionArchive } from './session-archive.ts';

/** The backend that keeps its data in a store of this process. */
export type EmbeddedBackend = Backend & { readonly administration: Administration };

/** The contracts together, and a way to close them. */
export interface Backend {
  readonly service: ConversationService;
  readonly archive: SessionArchive;
  /** Null for a server elsewhere, which is administered on its own machine. */
  readonly administration: Administration | null;
  /** What the backend offers beyond the interface document (`archive`, `idempotency`, `stream`, `schema`); null while that is not known. */
  readonly extensions: readonly string[] | null;
  /**
   * Called before calls that begin at one moment: a store of this process then looks up their key once and shares one state between their
   * reads. Missing where it makes no difference.
   */
  readonly shareReads?: () => void;
  /** Closes files and sockets. Running turns are cut first, and the received parts of their replies are stored. */
  close(): Promise<void>;
}

/** True if the backend is known to offer this extension. A remote backend knows it after its first response. */
export function offers({ extensions }: Backend, extension: Extension): boolean {
  return extensions?.includes(extension) ?? false;
}
