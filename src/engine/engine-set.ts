// The modes there are, and the engine behind each.
import type { Mode } from '../service/mode.ts';
import type { ReplyEngine } from './reply-engine.ts';

export interface EngineSet {
  /** At least one; exactly one is the default. */
  readonly modes: readonly Mode[];
  /** Null for a mode that there is not. */
  engine(mode: string): ReplyEngine | null;
  /** Closes all connections, where there are any: also those in use. */
  close?(): Promise<void>;
  /** Closes the connections that no reply uses, and each other one when its last reply ends. An engine that is still held can be asked on. */
  retire?(): Promise<void>;
}
