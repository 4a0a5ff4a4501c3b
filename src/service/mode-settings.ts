// A mode that a user has set up: its model, the address of that model, and the system prompt. The stored configuration and the file for
// `serve --modes` use the same field names.
import type { ParleyError } from './errors.ts';
import type { Mode } from './mode.ts';

/** A JSON value, as a parameter of a model may have it. */
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
  /** Where the key is, never the key itself: `env:NAME`, `file:PATH` or `command:LINE`; null for a server that needs no key. */
  readonly key: string | null;
  /** The system prompt; null for none. */
  readonly system: string | null;
  /** Null for the model's own default. */
  readonly temperature: number | null;
  /** Further fields of each request, such as `max_tokens`, `top_p` and `seed`. */
  readonly parameters: Readonly<Record<string, JsonValue>>;
  /**
   * How many tokens the system prompt, the history and the message may have together, by Parley's estimate. Null for the number that the
   * model's server reports; if it reports none, 8192 for a model on this machine, and everything for a model elsewhere.
   */
  readonly context_tokens: number | null;
  /** The mode to ask when this one fails before the first chunk of its reply; null for none. */
  readonly fallback: string | null;
  /** The longest wait for the first token, and between two chunks of the reply, in seconds. */
  readonly first_token_seconds: number;
  readonly idle_seconds: number;
  /** True: a chat shows the model's own notes. */
  readonly show_reasoning: boolean;
  /**
   * How `<think>…</think>` at the beginning of a reply is treated. `split`: its content is the model's notes and no part of the reply.
   * `open`: the same for a model whose template opens the tag, so that the reply contains only `</think>`. `keep`: it is a part of the
   * reply.
   */
  readonly think_tags: (typeof thinkTagChoices)[number];
  /** True: plain `http:` may be used to another machine. */
  readonly insecure_http: boolean;
}

/** The tokens that are sent of a conversation to a model on this machine whose server reports no number. */
export const defaultTokensHere = 8192;

export const thinkTagChoices = ['split', 'open', 'keep'] as const;

export const defaultModeSettings = {
  description: '',
  engine: 'openai',
  key: null,
  system: null,
  temperature: null,
  parameters: {},
  context_tokens: null,
  fallback: null,
  first_token_seconds: 300,
  idle_seconds: 60,
  show_reasoning: false,
  think_tags: 'split',
  insecure_http: false,
} as const satisfies Omit<ModeSettings, 'name' | 'base_url' | 'model'>;

/** The modes that need no model, no network and no settings. No other mode can have their names. */
export const offlineModes: readonly Mode[] = [
  {
    name: 'eliza',
    description: 'A conversation after Weizenbaum’s ELIZA of 1966; needs no model',
    engine: 'eliza',
    model: null,
    default: true,
  },
  {
    name: 'echo',
    description: 'Returns the message as it is, for pipes and tests; needs no model',
    engine: 'echo',
    model: null,
    default: false,
  },
];

/** The names of {@link offlineModes}. */
export const builtInModes: readonly string[] = offlineModes.map(({ name }) => name);

/** A mode whose stored settings break a rule. */
export interface FaultyMode {
  readonly name: string;
  /** The failure that a user of the mode gets. */
  readonly failure: ParleyError;
}

/** The modes that are set up, and the one that is used when none is named (null: the first built-in one). */
export interface ModeConfig {
  readonly modes: readonly ModeSettings[];
  /** The modes whose stored settings are damaged, for example by an editor. The other modes work without them. */
  readonly faulty: readonly FaultyMode[];
  readonly default: string | null;
}

/** All modes of a configuration, in the order of the models listing: those that were set up, the faulty ones, then the offline modes. */
export function allModes(modeConfig: ModeConfig): readonly Mode[] {
  const upstream = modeConfig.modes.map(
    ({ name, description, engine, model }): Mode => ({ name, description, engine, model, default: false }),
  );
  // A faulty mode is listed, because a faulty default must not silently give way to another mode.
  const faulty = faultyModes(modeConfig).map(
    ({ name }): Mode => ({
      name,
      description: 'faulty: its settings break a rule',
      engine: 'openai',
      model: null,
      default: false,
    }),
  );
  const modes = [...upstream, ...faulty, ...offlineModes];
  if (!modes.some(({ name }) => name === modeConfig.default)) return modes;
  return modes.map((mode) => ({ ...mode, default: mode.name === modeConfig.default }));
}

/** The faulty modes that a chat can name. An entry with the name of an offline mode is never used. */
export function faultyModes(modeConfig: ModeConfig): readonly FaultyMode[] {
  return modeConfig.faulty.filter(({ name }) => !builtInModes.includes(name));
}

/** A mode of the configuration, with its settings. */
export interface ModeRecord extends Mode {
  /** Null for a built-in mode, and for a faulty one. */
  readonly settings: ModeSettings | null;
  /** What is wrong with the stored settings; null for a mode that can be used. */
  readonly problem: string | null;
}
