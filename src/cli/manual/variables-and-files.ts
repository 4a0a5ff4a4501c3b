// The variables and files that Parley reads, each with its purpose. Help and the manual page show them.

export interface Described {
  readonly name: string;
  readonly purpose: string;
}

/** An empty variable counts as unset. */
export const variables: readonly Described[] = [
  { name: 'PARLEY_PROFILE', purpose: 'the profile to use where --profile is not given' },
  { name: 'PARLEY_STORE', purpose: 'the store in PostgreSQL to use where --store is not given' },
  {
    name: 'PARLEY_URL',
    purpose:
      'a server to talk to where neither --url nor --profile is given, with the key from PARLEY_API_KEY alone',
  },
  {
    name: 'PARLEY_API_KEY',
    purpose: 'the key; it comes before the key of the profile, but not of one that --profile names',
  },
  { name: 'PARLEY_MODE', purpose: 'the mode of a new session where --mode is not given' },
  { name: 'PARLEY_NO_STDIN', purpose: '1 leaves stdin alone, as chat --no-stdin does' },
  {
    name: 'PARLEY_PAGER',
    purpose:
      'the pager for output that is longer than the screen; else PAGER, else less, where there is one. An empty one, or cat, turns it off',
  },
  { name: 'PARLEY_CONFIG_DIR', purpose: 'where profiles and keys are kept (config.json)' },
  { name: 'PARLEY_DATA_DIR', purpose: 'where the store of the embedded service is kept (parley.db)' },
  {
    name: 'PARLEY_SQLITE_DRIVER',
    purpose: 'the library for SQLite: node:sqlite, the default on Node 24.15 and newer, or better-sqlite3',
  },
  { name: 'NO_COLOR', purpose: 'print without colour, whatever its value; bold, lists and tables stay' },
  {
    name: 'FORCE_COLOR',
    purpose: 'print in colour, also into a pipe: 0 for none, 1 for 16 colours, 2 for 256, 3 for all',
  },
  { name: 'TERM', purpose: 'dumb: print without colour and draw no line again' },
  { name: 'CI', purpose: 'never ask, and draw no line again' },
  {
    name: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    purpose:
      'the proxy on the way to a server; one for this machine is never used. NO_PROXY: hosts, domains, addresses and networks (10.0.0.0/8) that need none',
  },
  {
    name: 'OLLAMA_HOST, OPENAI_BASE_URL',
    purpose:
      'where setup looks for Ollama (on this machine alone), and for OpenAI where OPENAI_API_KEY is set',
  },
  { name: 'NODE_EXTRA_CA_CERTS', purpose: 'a file of certificates to trust, as --ca' },
  { name: 'XDG_CONFIG_HOME, XDG_DATA_HOME', purpose: 'where ~/.config and ~/.local/share are, on Linux' },
];

/** The paths on Linux. */
export const files: readonly Described[] = [
  {
    name: '~/.config/parley/config.json',
    purpose: 'profiles: URL, key and mode; modes, but those of a store in PostgreSQL; mode 0600',
  },
  {
    name: '~/.config/parley/templates/NAME.md',
    purpose: 'templates of messages, for chat -t NAME; see: parley templates --help',
  },
  {
    name: '~/.local/share/parley/parley.db',
    purpose: 'the sessions of the embedded service, with -wal and -shm beside it; mode 0600',
  },
];
