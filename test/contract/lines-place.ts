// The service under random conversations (random-lines.ts), and the engine that replies there.
import { once } from 'node:events';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { Backend, EmbeddedBackend } from '../../src/service/backend.ts';
import { ParleyError } from '../../src/service/errors.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import type { ModelReply } from '../local/lines-model.ts';
import { engineOf } from '../support/embedded.ts';
import type { KillMoment } from '../support/lines-child.ts';

/** A service under test. Its mode is that of {@link ScriptedEngine}, and it knows that the owner `gone` is dead. */
export interface LinesPlace {
  readonly backend: Backend;
  readonly engine: ScriptedEngine;
  /** The store of the service, in which other processes begin turns. */
  readonly store: SessionStore;
  /** A key for a new project. */
  newKey(): Promise<string>;
  /** True: a reply that is cut by its caller is stored soon after the caller has left. */
  readonly cutsLater: boolean;
  /** After every so many operations, all sessions are compared. */
  readonly comparedEach: number;
  /** Those of the texts that the store still holds; null where a look from outside is not possible. */
  readonly textsLeft: ((texts: readonly string[]) => Promise<readonly string[]>) | null;
  /** Null: the service runs in this process. */
  readonly kills: Kills | null;
}

/** The process that has the service can be killed. */
export interface Kills {
  /** Runs an operation in a process that is killed on the way. Resolves when another process can go on. `run` never rejects. */
  during(
    moment: KillMoment,
    lateMs: number,
    run: (backend: Backend, administration: EmbeddedBackend['administration']) => Promise<void>,
  ): Promise<void>;
}

/** The engine of the mode `test`. It notes what it was given, and its next reply ends as the test says. */
export class ScriptedEngine {
  finish: ModelReply['finish'] = 'stop';
  given: readonly string[] = [];
  text = '';
  readonly engines: EngineSet;

  constructor() {
    const engine = this;
    this.engines = engineOf(async function* ({ history, message }, signal) {
      const { finish, text } = engine;
      engine.given = [...history.map(({ content }) => content), message];
      yield { type: 'text', text };
      if (finish === 'error') throw new ParleyError('ENGINE_FAILED', 'The engine failed.');
      // The caller stops when it has got the text.
      if (finish === 'interrupted' && !signal.aborted) await once(signal, 'abort');
      signal.throwIfAborted();
      yield { type: 'finish', reason: 'stop', usage: null };
    });
  }
}

let projects = 0;

/** A name that no other project has. */
export function projectName(): string {
  projects += 1;
  return `lines ${projects}`;
}
