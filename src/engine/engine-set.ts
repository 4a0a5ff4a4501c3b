// The modes there are, and the engine behind each.
import type { Mode } from '../service/mode.ts';
import type { ReplyEngine } from './reply-engine.ts';

export interface EngineSet {
  /** At least one; exactly one is the default. */
  readonly modes: readonly Mode[];
  /** Null for a mode that there is not. */
  engine(mode: string): ReplyEngine | null;
  /** Lets go of sockets, where there are any. */
  close?(): Promise<void>;
}
