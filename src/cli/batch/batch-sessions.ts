// The chat request of a batch's line: its message, and the session, the mode and the settings that it is for.
import type { Backend } from '../../service/backend.ts';
import type { Call } from '../../service/call.ts';
import type { ChatRequest } from '../../service/chat-event.ts';
import type { Session } from '../../service/session.ts';
import {
  changesOf,
  type GivenSettings,
  initialSettings,
  isEmpty,
  mergeSettings,
} from '../setting-options.ts';
import type { BatchRequest } from './batch-request.ts';

export interface SharedSession {
  /** Null until the first line has created it. */
  session_id: string | null;
}

/** What the options of a batch give to each of its lines. */
export interface GivenToLines {
  /** Null for the mode of the session, or the usual one. */
  readonly mode: string | null;
  /** The title of a session that a line creates. */
  readonly title: string | null;
  /** The person whose the sessions of the lines are; null for nobody. */
  readonly user: string | null;
  readonly settings: GivenSettings;
  /** Makes the message of what a line says. */
  readonly message: (said: string) => string;
}

export interface BatchSessionsOptions {
  readonly backend: Backend;
  readonly given: GivenToLines;
  /** The session of all lines; null if each line has its own. */
  readonly shared: SharedSession | null;
  readonly usualMode: () => Promise<string>;
}

export class BatchSessions {
  readonly #options: BatchSessionsOptions;
  /** How many times the settings of a session were changed. */
  changed = 0;

  constructor(options: BatchSessionsOptions) {
    this.#options = options;
  }

  /** Settings for a session that exists are stored on the way. */
  async requestOf(line: BatchRequest, newCall: () => Call): Promise<ChatRequest> {
    const { shared, given } = this.#options;
    const message = given.message(line.message);
    const named = line.mode ?? given.mode;
    const session_id = shared?.session_id ?? line.session_id;
    const user = line.user ?? given.user;
    const ofUser = user !== null && { user };
    const settings = mergeSettings(line.settings, given.settings);
    if (session_id === null) {
      const mode = named ?? (await this.#options.usualMode());
      const title = line.title ?? given.title;
      return {
        mode,
        message,
        session_id,
        ...(title !== null && { title }),
        ...initialSettings(settings),
        ...ofUser,
      };
    }
    // The settings of a shared session are stored before its first line.
    const kept = shared === null ? await this.#keptMode(session_id, named, settings, newCall) : null;
    return { mode: named ?? kept ?? (await this.#options.usualMode()), message, session_id, ...ofUser };
  }

  /** The mode of the session's last turn; null if it has none, and if it need not be asked for. */
  async #keptMode(
    sessionId: string,
    named: string | null,
    settings: GivenSettings,
    newCall: () => Call,
  ): Promise<string | null> {
    const { backend } = this.#options;
    const isAskedFor = named === null && (backend.extensions?.includes('settings') ?? false);
    if (!isAskedFor && isEmpty(settings)) return null;
    const session: Session = (await backend.service.getSession(newCall(), sessionId)).data;
    const changes = changesOf(session, settings);
    if (Object.keys(changes).length > 0) {
      await backend.archive.changeSession(newCall(), sessionId, changes);
      this.changed++;
    }
    return session.mode;
  }
}
