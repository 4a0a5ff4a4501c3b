// The examples of each command's help: a command line, and what it does. Only help and the manual load them. A test runs each of them.

export type Example = readonly [line: string, does: string];

/** By the words of the command. `ID` stands for an id. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  parley: [
    ['parley', 'have a conversation in this terminal'],
    ['parley chat "My name is Ada."', 'start a session'],
    ['parley chat -c "What is my name?"', 'continue it'],
    ['git diff | parley "Explain this:"', 'add piped input; `chat` is optional'],
    ['parley sessions list', 'list the sessions'],
  ],
  'parley chat': [
    ['parley chat "What is a monad?"', 'start a session'],
    ['parley chat -c "And in Rust?"', 'continue it'],
    ['parley chat -m qwen -f main.c "Review it."', 'choose a mode, add a file'],
    ['git log -5 | parley chat "Summarise:"', 'add piped input'],
    ['parley chat -n "Hi" --jq .data.reply', 'print a part of the JSON'],
  ],
  'parley repl': [
    ['parley repl -c', 'continue the last conversation'],
    ['parley repl -m qwen --ephemeral', 'write no text to disk'],
  ],
  'parley sessions create': [
    ['id=$(parley sessions create --title "Oslo")', 'keep the id for chat -s "$id"'],
    ['parley sessions create --system "Be brief."', 'with a system prompt'],
  ],
  'parley sessions get': [
    ['parley sessions get "Trip to Oslo"', 'by the title'],
    ['parley sessions get ID --jq .data.mode', 'one field, for a script'],
    ['parley sessions list --ids --tag work | parley sessions get -', 'all of a list'],
  ],
  'parley sessions list': [
    ['parley sessions list --newer-than 7d --tag work', 'this week’s sessions with a tag'],
    ['parley sessions list --title-match "Trip*" --all', 'all with such a title'],
    ['parley sessions list --ids --older-than 90d', 'only ids, for another command'],
  ],
  'parley sessions search': [
    ['parley sessions search backup restore', 'messages with both words'],
    [`parley sessions search '"exit status" deploy*'`, 'a phrase, and words with this prefix'],
    ['parley sessions search --secrets', 'where secrets are'],
  ],
  'parley sessions messages': [
    ['parley sessions messages "Trip to Oslo"', 'read a session'],
    ['parley sessions messages ID --format json', 'one message per line'],
  ],
  'parley sessions rename': [['parley sessions rename ID Trip to Bergen', 'several words need no quotes']],
  'parley sessions fork': [
    ['parley sessions fork "Trip to Oslo" --title "Bergen"', 'copy the whole session'],
    ['parley sessions fork ID --at 1', 'copy its first turn'],
  ],
  'parley sessions undo': [
    ['parley sessions undo "Trip to Oslo"', 'undo the last turn'],
    ['parley sessions undo ID --turns 2', 'undo the last two'],
  ],
  'parley sessions redo': [['parley sessions redo "Trip to Oslo"', 'restore the last undone turn']],
  'parley sessions delete': [
    ['parley sessions delete ID', 'delete one session'],
    ['parley sessions delete --older-than 365d --dry-run', 'show which would be deleted'],
    ['parley sessions delete --tag draft --yes', 'delete many without a question'],
    ['parley sessions delete - --yes < ids.txt', 'delete the ids of a file'],
  ],
  'parley sessions restore': [
    ['parley sessions restore ID', 'restore one session'],
    ['parley sessions restore --last', 'undo the last batch'],
  ],
  'parley sessions pin': [['parley sessions pin "Trip to Oslo"', 'mark it in lists']],
  'parley sessions unpin': [['parley sessions unpin --pinned --yes', 'unpin all pinned sessions']],
  'parley sessions archive': [
    ['parley sessions archive ID', 'hide one session from lists'],
    ['parley sessions archive --older-than 90d --yes', 'hide all old ones'],
  ],
  'parley sessions unarchive': [
    ['parley sessions unarchive --tag work --yes', 'show those with a tag again'],
  ],
  'parley sessions tag': [
    ['parley sessions tag ID +work -draft', 'add a tag, remove another'],
    ['parley sessions tag --older-than 90d +old --yes', 'tag all old sessions'],
  ],
  'parley sessions batches': [['parley sessions batches', 'ids for restore --batch and delete --resume']],
  'parley sessions purge': [
    ['parley sessions purge --deleted-before 30d --dry-run', 'show what would be erased'],
    ['parley sessions purge --user ada --yes', 'erase all sessions of a person'],
  ],
  'parley sessions redact': [
    ['parley sessions redact ID --secrets --dry-run', 'show what would be replaced'],
    ['parley sessions redact ID --message 2 --yes', 'remove one message’s text'],
  ],
  'parley sessions export': [
    ['parley sessions export "Trip to Oslo" -o oslo.html', 'one page to read or share'],
    ['parley sessions export --all -o all.json', 'all sessions, to import elsewhere'],
    ['parley sessions export ID --redact', 'Markdown without secrets'],
  ],
  'parley sessions import': [
    ['parley sessions import --scan', 'find the conversations of other programs'],
    ['parley sessions import export.zip --dry-run', 'show what would be imported'],
    ['parley sessions import all.json --tag laptop', 'import an export of another Parley'],
  ],
  'parley sync': [
    ['parley sync work --dry-run', 'show what each side lacks'],
    ['parley sync work --pull --tag shared', 'only fetch sessions with a tag'],
  ],
  'parley models': [
    ['parley models', 'the modes to choose from with -m'],
    ['parley models --jq ".data[].name"', 'only the names, for a script'],
  ],
  'parley modes add': [
    [
      'parley modes add qwen --base-url http://localhost:11434/v1 --model qwen3:4b',
      'a model of Ollama on this machine',
    ],
    [
      'parley modes add gpt --like qwen --base-url https://api.example.com/v1 \\\n      --model big --key env:API_KEY',
      'a model elsewhere, with the key from a variable',
    ],
  ],
  'parley modes set': [
    ['parley modes set qwen --temperature 0.2', 'change a parameter'],
    ['parley modes set qwen --fallback gpt', 'use another mode if this one fails'],
  ],
  'parley modes list': [['parley modes list', 'the model and the server of each mode']],
  'parley modes show': [['parley modes show qwen', 'all settings of a mode']],
  'parley modes test': [['parley modes test qwen', 'ask its model one short question']],
  'parley modes remove': [['parley modes remove gpt', 'remove it; its sessions stay']],
  'parley modes default': [['parley modes default qwen', 'chat in this mode without -m']],
  'parley templates list': [['parley templates list', 'the names for chat -t']],
  'parley templates show': [['parley templates show commit', 'print its file']],
  'parley templates edit': [
    ['parley templates edit commit', 'in $VISUAL or $EDITOR'],
    ['parley templates edit commit < commit.md', 'from a file'],
  ],
  'parley templates remove': [['parley templates remove commit', 'remove its file']],
  'parley setup': [['parley setup --yes', 'only the servers on this machine, without a question']],
  'parley usage': [['parley usage --days 7 --by day', 'each day of the last week']],
  'parley verify': [
    ['parley verify', 'the key in use'],
    ['parley verify --profile work', 'the key of a profile'],
  ],
  'parley login': [
    ['parley login --profile work --url https://chat.example.com', 'asks for the key, and makes the profile'],
    [
      'parley login --profile work --url https://chat.example.com \\\n      --key-stdin < key.txt',
      'the same in a script',
    ],
  ],
  'parley logout': [['parley logout --profile work', 'remove the key of a profile']],
  'parley profiles list': [['parley profiles list', 'the server of each profile']],
  'parley profiles use': [['parley profiles use work', 'use it without --profile from now on']],
  'parley profiles remove': [['parley profiles remove work', 'forget the server and its key']],
  'parley keys create': [
    ['parley keys create --project team --name ci', 'a key for a project'],
    ['parley keys create --project team --scope read --expires 90d', 'one that only reads, for 90 days'],
    ['parley keys create --project team --turns-per-day 500', 'one with a budget'],
  ],
  'parley keys list': [['parley keys list', 'the ids for keys revoke, and the last use of each key']],
  'parley keys revoke': [['parley keys revoke ID', 'refuse a key from now on']],
  'parley audit list': [
    ['parley audit list --since 7d --what delete', 'who deleted sessions this week'],
    ['parley audit list --session ID', 'what happened to a session'],
  ],
  'parley audit verify': [['parley audit verify', 'also prints the head, for a later --head']],
  'parley audit export': [['parley audit export --since 30d > audit.ndjson', 'the last 30 days']],
  'parley retention set': [
    ['parley retention set --after 90d', 'delete what is inactive for 90 days'],
    ['parley retention set --after 90d --erase-after 30d', 'and erase it 30 days later'],
  ],
  'parley retention show': [['parley retention show --project team', 'the policy of a project']],
  'parley retention run': [
    ['parley retention run --dry-run', 'show what would expire'],
    ['parley retention run --confirm 0', 'run in a script, with the number shown'],
  ],
  'parley retention off': [['parley retention off', 'nothing expires any more']],
  'parley serve': [
    ['parley serve', 'on http://127.0.0.1:8787'],
    ['parley serve --host 0.0.0.0 --metrics 9090', 'for other machines, behind a TLS proxy'],
    ['parley serve --modes modes.yaml', 'with the modes of a file'],
  ],
  'parley store backup': [
    ['parley store backup parley.backup', 'while other commands use the store'],
    ['parley store backup - | gzip > backup.gz', 'compressed, or to another machine'],
  ],
  'parley store verify': [['parley store verify parley.backup', 'before it is needed']],
  'parley store restore': [
    ['parley store restore parley.backup --replace', 'the earlier store is kept beside it'],
  ],
  'parley store copy': [
    [
      'parley store copy --from ~/.local/share/parley \\\n      --to postgres://parley@db.example.com/parley',
      'from one machine to PostgreSQL',
    ],
  ],
  'parley store migrate': [['parley store migrate', 'before servers of this version start']],
  'parley doctor': [['parley doctor --online', 'also ask the servers of models elsewhere']],
  'parley completion': [
    [`echo 'eval "$(parley completion bash)"' >> ~/.bashrc`, 'enable it in bash'],
    [`echo 'eval "$(parley completion zsh)"' >> ~/.zshrc`, 'in zsh; the line must follow compinit'],
    ['parley completion fish > ~/.config/fish/completions/parley.fish', 'enable it in fish'],
  ],
};
