// A mode: what a chat message is sent in (interface document section 2), as the models listing shows it.

export interface Mode {
  readonly name: string;
  readonly description: string;
  /** What answers: `eliza`, `echo`, or `openai` for a server that speaks OpenAI's API. */
  readonly engine: string;
  /** The model behind it; null where there is none. */
  readonly model: string | null;
  /** True for the one that is used when none is named. */
  readonly default: boolean;
}
