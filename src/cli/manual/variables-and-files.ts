// The environment variables and files of Parley, for help and the manual page.

export interface ManualEntry {
  readonly name: string;
  readonly purpose: string;
}

/** An empty variable counts as unset. */
export const variables: readonly ManualEntry[] = [
  { name: 'PARLEY_PROFILE', purpose: 'the profile to use without --profile' },
  {
    name: 'PARLEY_STORE',
    purpose:
      'the PostgreSQL store to use without --store, in place of the store of the profile; a profile of a server does not use it',
  },
  {
    name: 'PARLEY_URL',
    purpose: 'the server to use without --url and --profile; its key comes only from PARLEY_API_KEY',
  },
  {
    name: 'PARLEY_API_KEY',
    purpose: 'the key; it takes precedence over the key of the profile, except with --profile',
  },
  { name: 'PARLEY_MODE', purpose: 'the mode of new sessions without --mode' },
  { name: 'PARLEY_NO_STDIN', purpose: 'the value 1 turns off reading stdin, like chat --no-stdin' },
  {
    name: 'PARLEY_PAGER',
    purpose:
      'the pager for output that is longer than the screen; the default is PAGER, or less if it is installed. An empty value, or cat, turns paging off',
  },
  {
    name: 'VISUAL, EDITOR',
    purpose: 'the editor for /edit, Ctrl-X Ctrl-E and templates edit; the default is vi',
  },
  { name: 'PARLEY_CONFIG_DIR', purpose: 'the directory for profiles and keys (config.json)' },
  { name: 'PARLEY_DATA_DIR', purpose: 'the directory for the store of the embedded service (parley.db)' },
  {
    name: 'PARLEY_SQLITE_DRIVER',
    purpose: 'the SQLite library: node:sqlite, the default on Node 24.15 and newer, or better-sqlite3',
  },
  { name: 'NO_COLOR', purpose: 'any value disables colours; bold text, lists and tables stay' },
  {
    name: 'FORCE_COLOR',
    purpose: 'forces colours, even in a pipe: 0 for none, 1 for 16 colours, 2 for 256, 3 for all',
  },
  { name: 'TERM', purpose: 'the value dumb disables colours and redrawing' },
  { name: 'CI', purpose: 'any value disables prompts and redrawing' },
  {
    name: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    purpose:
      'the proxy for requests to servers, also as https_proxy, http_proxy and no_proxy; it is never used for this machine. NO_PROXY lists hosts, domains, addresses and networks (10.0.0.0/8) to reach without a proxy',
  },
  {
    name: 'OLLAMA_HOST, OPENAI_BASE_URL',
    purpose: 'where setup looks for Ollama (on this machine only), and for OpenAI if OPENAI_API_KEY is set',
  },
  {
    name: 'PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD, PGPASSFILE, PGSSLMODE, PGSSLROOTCERT',
    purpose: 'what the address of a PostgreSQL store leaves out, as for psql',
  },
  {
    name: 'AICHAT_CONFIG_DIR, AICHAT_SESSIONS_DIR, CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, LLM_USER_PATH',
    purpose: 'where sessions import --scan looks for the conversations of these programs',
  },
  { name: 'NODE_EXTRA_CA_CERTS', purpose: 'a file of certificates to trust, like --ca' },
  { name: 'XDG_CONFIG_HOME, XDG_DATA_HOME', purpose: 'replace ~/.config and ~/.local/share on Linux' },
];

/** The paths on Linux. */
export const files: readonly ManualEntry[] = [
  {
    name: '~/.config/parley/config.json',
    purpose: 'profiles with URL, key and mode; modes, except those of a PostgreSQL store; file mode 0600',
  },
  {
    name: '~/.config/parley/templates/NAME.md',
    purpose: 'message templates for chat -t NAME; see: parley templates --help',
  },
  {
    name: '~/.local/share/parley/parley.db',
    purpose: 'the sessions of the embedded service, with -wal and -shm beside it; file mode 0600',
  },
];
