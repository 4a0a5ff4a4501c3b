// A mode answers the message of a chat (interface document, section 2). This is its entry in the models listing.

export interface Mode {
  readonly name: string;
  readonly description: string;
  /** The engine: `eliza`, `echo`, or `openai` for a server that speaks OpenAI's API. */
  readonly engine: string;
  /** The name of the model; null for a mode without one. */
  readonly model: string | null;
  /** True for the mode that is used when none is named. */
  readonly default: boolean;
}
