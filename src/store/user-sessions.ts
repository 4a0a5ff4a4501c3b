// The operations of a store that find everything it holds of one person. They are apart from the other operations because no service offers
// them.

/** Whose sessions are meant. */
export interface SessionsOf {
  /** Null for all projects. */
  readonly projectId: string | null;
  readonly user: string;
}

export interface UserSession {
  readonly project_id: string;
  readonly session_id: string;
  readonly is_deleted: boolean;
  /** A turn runs in it. */
  readonly is_busy: boolean;
}

/** What the sessions hold, visible and hidden messages. */
export interface UserTexts {
  readonly messages: number;
  /** The bytes of the messages' texts. */
  readonly text_bytes: number;
}

export interface UserSessions {
  /** All sessions of the person, deleted ones included, in the order of their ids. */
  sessions(of: SessionsOf): Promise<readonly UserSession[]>;
  /** Counts all messages of the sessions in which no turn runs. */
  texts(of: SessionsOf): Promise<UserTexts>;
  /**
   * Those of the lines that a message of the user in these sessions is made of. A line of at least {@link shortestPart} characters may also
   * be a part of a message.
   */
  linesInTexts(of: SessionsOf, lines: readonly string[]): Promise<readonly string[]>;
}

/** A shorter text may be a part of any message. */
export const shortestPart = 8;
