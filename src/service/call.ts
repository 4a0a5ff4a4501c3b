// What accompanies every operation, whichever backend keeps it.

/** The circumstances of one call of an operation. */
export interface Call {
  /** The key. It is bound to one project, and the call sees the data of that project alone (interface document, section 5). */
  readonly apiKey: string;
  /** The project of the key, where `verify` has just named it for this call: the embedded service then does not look the key up. */
  readonly projectId?: string | null;
  /** Stops the operation when it fires. What was already durable stays. */
  readonly signal: AbortSignal;
  /**
   * Names this call, so that a repetition does nothing twice. It has 1 to 255 visible characters, and is kept 24 h per project. Null for
   * none.
   */
  readonly idempotencyKey: string | null;
  /** Identifies this call in a log and in the body of an error. */
  readonly requestId: string;
  /**
   * True: a response of 429 or 503 is reported at once, because the caller paces its calls itself. False: the remote backend waits and
   * sends again.
   */
  readonly pacesItself: boolean;
  /** True: the chat also yields `reasoning` of a mode that is not set to show it. Only the embedded service can do so. */
  readonly showReasoning: boolean;
}
