// The modes there are, and the engine behind each.
import type { Mode } from '../service/mode.ts';
import type { ReplyEngine } from './reply-engine.ts';

export interface EngineSet {
  /** At least one; exactly one is the default. */
  readonly modes: readonly Mode[];
  /** Null for a mode that there is not. Throws for one that is there, and cannot be used as it is set up. */
  engine(mode: string): ReplyEngine | null;
  /** Lets go of sockets, where there are any: of those in use as well. */
  close?(): Promise<void>;
  /** Lets go of those that no reply uses, and of each other one when its last reply ends. Who still holds an engine can go on asking it. */
  retire?(): Promise<void>;
}
