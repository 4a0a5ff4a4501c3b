// The model servers that `setup` looks for: programs on this machine at their default ports, and vendors whose key has an environment
// variable of its own. The addresses come from the vendors' documentation.

export interface ModelServer {
  readonly name: string;
  readonly base_url: string;
  /** `env:NAME`; null for a server that needs no key. */
  readonly key: string | null;
}

/** The models of a server, or the problem in asking for them. */
export interface FoundModels {
  readonly server: ModelServer;
  /** In the order of the server's list; empty if the server could not be asked. */
  readonly models: readonly string[];
  /** Why there are no models; null if there are some, or if nothing listens at the address. */
  readonly problem: string | null;
}

/** How many tokens a conversation with a model may have, as its server reports. */
export interface ContextSize {
  readonly tokens: number;
  /** The end of the path that reported it: `/models`, `/props` or `/api/show`. */
  readonly place: string;
}

export const localModelServers = [
  { name: 'Ollama', base_url: 'http://127.0.0.1:11434/v1', key: null },
  { name: 'llama.cpp', base_url: 'http://127.0.0.1:8080/v1', key: null },
  { name: 'LM Studio', base_url: 'http://127.0.0.1:1234/v1', key: null },
] as const satisfies readonly ModelServer[];

export type ModelProgram = (typeof localModelServers)[number]['name'];

export const modelVendors: readonly ModelServer[] = [
  { name: 'OpenAI', base_url: 'https://api.openai.com/v1', key: 'env:OPENAI_API_KEY' },
  { name: 'Anthropic', base_url: 'https://api.anthropic.com/v1', key: 'env:ANTHROPIC_API_KEY' },
  {
    name: 'Gemini',
    base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
    key: 'env:GEMINI_API_KEY',
  },
  { name: 'OpenRouter', base_url: 'https://openrouter.ai/api/v1', key: 'env:OPENROUTER_API_KEY' },
  { name: 'Groq', base_url: 'https://api.groq.com/openai/v1', key: 'env:GROQ_API_KEY' },
  { name: 'Mistral', base_url: 'https://api.mistral.ai/v1', key: 'env:MISTRAL_API_KEY' },
  { name: 'DeepSeek', base_url: 'https://api.deepseek.com', key: 'env:DEEPSEEK_API_KEY' },
  { name: 'xAI', base_url: 'https://api.x.ai/v1', key: 'env:XAI_API_KEY' },
];
