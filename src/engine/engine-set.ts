// The modes of a service, and the engine of each.
import type { Mode } from '../service/mode.ts';
import type { ReplyEngine } from './reply-engine.ts';

export interface EngineSet {
  /** At least one mode; exactly one is the default. */
  readonly modes: readonly Mode[];
  /** Null for a mode that does not exist. Throws for a mode that exists and whose settings break a rule. */
  engine(mode: string): ReplyEngine | null;
  /** Closes all connections, also those in use. */
  close?(): Promise<void>;
  /**
   * Closes each connection once no reply uses it, now or at the end of its last reply. An engine that a caller still holds continues to
   * work.
   */
  retire?(): Promise<void>;
}
