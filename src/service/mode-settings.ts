// A mode that somebody has set up: which model answers in it, where that model is, and what it is told. Field names are those of
// the stored configuration and of the file for `serve --modes`.
import type { ParleyError } from './errors.ts';

/** A value of JSON: what a parameter of a model may be. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export interface ModeSettings {
  readonly name: string;
  readonly description: string;
  /** `openai`: a server that speaks OpenAI's chat completions. */
  readonly engine: 'openai';
  readonly base_url: string;
  readonly model: string;
  /** Where its key is, never the key: `env:NAME`, `file:PATH` or `command:…`; null for a server that asks for none. */
  readonly key: string | null;
  /** The system prompt; null for none. */
  readonly system: string | null;
  /** Null: the model's own. */
  readonly temperature: number | null;
  /** Further fields of each request: `max_tokens`, `top_p`, `seed` and what else the server knows. */
  readonly parameters: Readonly<Record<string, JsonValue>>;
  /** How many tokens system prompt, history and message may have together, as estimated here. */
  readonly context_tokens: number;
  /** The mode to ask when this one fails before it has said anything; null for none. */
  readonly fallback: string | null;
  /** The longest wait for the first token, and between two pieces of the reply, in seconds. */
  readonly first_token_seconds: number;
  readonly idle_seconds: number;
  /** True: the model's notes to itself are part of what a chat shows. */
  readonly show_reasoning: boolean;
  /**
   * What becomes of `<think>…</think>` at the beginning of a reply. `split`: it is the model's notes, no part of the reply. `open`: the
   * same, for a model whose template has opened the tag, so that only `</think>` comes. `keep`: it is part of the reply.
   */
  readonly think_tags: (typeof thinkTagChoices)[number];
  /** True: plain `http:` may leave this machine. */
  readonly insecure_http: boolean;
}

export const thinkTagChoices = ['split', 'open', 'keep'] as const;

export const defaultModeSettings = {
  description: '',
  engine: 'openai',
  key: null,
  system: null,
  temperature: null,
  parameters: {},
  context_tokens: 8192,
  fallback: null,
  first_token_seconds: 300,
  idle_seconds: 60,
  show_reasoning: false,
  think_tags: 'split',
  insecure_http: false,
} as const satisfies Omit<ModeSettings, 'name' | 'base_url' | 'model'>;

/** The modes that need no setting up, and whose names no other mode can have. */
export const builtInModes: readonly string[] = ['eliza', 'echo'];

export interface FaultyMode {
  readonly name: string;
  /** What whoever uses it is told. */
  readonly failure: ParleyError;
}

/** What is set up, and which mode is used when none is named (null: the first built-in one). */
export interface ModeBook {
  readonly modes: readonly ModeSettings[];
  /** Those that cannot be used, as a hand may have left them. They are in no one's way. */
  readonly faulty: readonly FaultyMode[];
  readonly default: string | null;
}

/** Keeps the modes that are set up; a write holds when it resolves. */
export interface ModeShelf {
  read(): Promise<ModeBook>;
  /** What is kept of a mode, unchecked; null where there is none of that name. */
  stored(name: string): Promise<Readonly<Record<string, unknown>> | null>;
  put(settings: ModeSettings): Promise<void>;
  remove(name: string): Promise<void>;
  setDefault(name: string): Promise<void>;
}
