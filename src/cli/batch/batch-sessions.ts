// Builds the chat request of a batch's line: its message, session, mode and settings.
import { type Backend, offers } from '../../service/backend.ts';
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

/** The defaults that the options of a batch set for each line. */
export interface LineDefaults {
  /** Null for the mode of the session, or the default mode. */
  readonly mode: string | null;
  /** The title of sessions that lines create. */
  readonly title: string | null;
  /** The user that the sessions belong to; null for none. */
  readonly user: string | null;
  readonly settings: GivenSettings;
  /** Turns the text of a line into the message. */
  readonly buildMessage: (text: string) => string;
}

interface BatchSessionsOptions {
  readonly backend: Backend;
  readonly defaults: LineDefaults;
  /** The session of all lines; null if each line has its own. */
  readonly shared: SharedSession | null;
  readonly defaultMode: () => Promise<string>;
  /** Throws `UNKNOWN_MODE` if the service is known to lack the mode. */
  readonly refuseUnknownMode: (mode: string) => Promise<void>;
}

export class BatchSessions {
  readonly #options: BatchSessionsOptions;
  /** How many times the settings of a session were changed. */
  changed = 0;

  constructor(options: BatchSessionsOptions) {
    this.#options = options;
  }

  /** The request of a line. Also stores new settings of an existing session. */
  async requestOf(line: BatchRequest, newCall: () => Call): Promise<ChatRequest> {
    const { shared, defaults } = this.#options;
    const message = defaults.buildMessage(line.message);
    const named = line.mode ?? defaults.mode;
    const session_id = shared?.session_id ?? line.session_id;
    const user = line.user ?? defaults.user;
    const ofUser = user !== null && { user };
    const settings = mergeSettings(line.settings, defaults.settings);
    if (session_id === null) {
      const mode = named ?? (await this.#options.defaultMode());
      const title = line.title ?? defaults.title;
      return {
        mode,
        message,
        session_id,
        ...(title !== null && { title }),
        ...initialSettings(settings),
        ...ofUser,
      };
    }
    // The settings of a shared session are stored before the first line.
    const sessionMode =
      shared === null ? await this.#sessionMode(session_id, named, settings, newCall) : null;
    return {
      mode: named ?? sessionMode ?? (await this.#options.defaultMode()),
      message,
      session_id,
      ...ofUser,
    };
  }

  /** The mode of the session's last turn; null if it has none or is not needed. */
  async #sessionMode(
    sessionId: string,
    named: string | null,
    settings: GivenSettings,
    newCall: () => Call,
  ): Promise<string | null> {
    const { backend, refuseUnknownMode } = this.#options;
    const needsMode = named === null && offers(backend, 'settings');
    if (!needsMode && isEmpty(settings)) return null;
    const session: Session = (await backend.service.getSession(newCall(), sessionId)).data;
    const changes = changesOf(session, settings);
    if (Object.keys(changes).length > 0) {
      const mode = named ?? session.mode;
      if (mode !== null) await refuseUnknownMode(mode);
      await backend.archive.changeSession(newCall(), sessionId, changes);
      this.changed++;
    }
    return session.mode;
  }
}
