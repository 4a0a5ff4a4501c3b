// What accompanies every operation, whoever keeps it.

export interface Call {
  /** The key, bound to one project; the call sees that project's data alone (interface document section 5). */
  readonly apiKey: string;
  /** The project that `verify` has just named, for this call: the embedded service looks the key up no more. Null: it does. */
  readonly projectId?: string | null;
  /** Stops the operation. What was already durable stays. */
  readonly signal: AbortSignal;
  /** Names this call, so that a repetition does nothing twice (1 to 255 visible characters, kept 24 h per project). */
  readonly idempotencyKey: string | null;
  /** Finds this call in a log and in an error's body. */
  readonly requestId: string;
  /** True: an answer of 429 or 503 is reported at once, for a caller that paces its calls itself. Otherwise it is waited out. */
  readonly pacesItself: boolean;
  /** True: the model's notes to itself are wanted, also of a mode that is not set to show them. Only the embedded service can tell. */
  readonly showReasoning: boolean;
}
