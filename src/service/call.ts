// The circumstances of every operation, the same for each backend.

/** The circumstances of one call of an operation. */
export interface Call {
  /** The key. It belongs to one project, and the call sees only the data of that project (interface document, section 5). */
  readonly apiKey: string;
  /** The project of the key, if `verify` has just returned it for this call. The embedded service then does not look the key up again. */
  readonly projectId?: string | null;
  /** Stops the operation when it fires. What was already durable stays. */
  readonly signal: AbortSignal;
  /** Names this call, so that a repetition does nothing twice: 1 to 255 visible characters, kept 24 h per project. Null for none. */
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
  /** True: the call reads for an export, which a server records in its audit log. */
  readonly isExport?: boolean;
  /** Called with the reason for a wait, while the call has no result yet. */
  readonly notice?: (sign: WaitingSign) => void;
}

/**
 * `thinking`: the model makes notes that are not shown. `turned_away`: the server asked for a pause, after which the request is sent again.
 * `indexing`: a search first adds waiting messages to the search index, and these many of them all are done. `busy`: another turn runs in the
 * session. Only the embedded service says these two.
 */
export type WaitingSign =
  | { readonly kind: 'thinking' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'indexing'; readonly messages: number; readonly of: number }
  | { readonly kind: 'turned_away'; readonly seconds: number };
