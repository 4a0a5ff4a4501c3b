// The modes of a service, and the engine of each.
import type { Mode } from '../service/mode.ts';
import type { ReplyEngine } from './reply-engine.ts';

export interface EngineSet {
  /** At least one mode; exactly one is the default. */
  readonly modes: readonly Mode[];
  /** Null for a mode that does not exist. Throws for a mode with invalid settings. */
  engine(mode: string): ReplyEngine | null;
  /** Closes all connections, including those in use. */
  close?(): Promise<void>;
  /** Closes each connection as soon as no reply uses it. An engine that a caller still has continues to work. */
  retire?(): Promise<void>;
}
