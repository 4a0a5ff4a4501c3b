// The text of `parley help formatting`: the forms of output for people and for programs.

export const formattingText = `What parley prints, and in which form.

  stdout is data, stderr is talk: hints, progress, questions, errors. --quiet leaves out hints and progress.
  Without a terminal, --progress tells every 10 s how far a long work is.
  On a terminal, listings are tables, cut to its width; in a pipe they are whole, separated by tabs, without titles.
  On a terminal, what others wrote is shown with its control characters made visible; a pipe gets the exact bytes.

JSON
  --json         stdout holds JSON alone: {"success":true,"data":…} or {"success":false,"error":{"code","message"}},
                 one line; from a service it is the service's own body. Commands over many sessions print a line each.
  --json-stream  (chat) a line of JSON for each event, as it comes.
  --jq FILTER    --json, and each value goes through a filter of jq 1.7, which is built in. Strings are printed as they
                 are, everything else as compact JSON. Failures are filtered as well: they have "success": false.
                 A filter that jq does not take is found before anything is done (exit 2). One that fails on a value
                 is told at the end, and ends a command that went well with exit 1 (FILTER_FAILED).

A reply by a schema
  chat --schema FILE prints JSON that matches the JSON Schema (2020-12) in FILE, on one line, or nothing. The model is
  asked for it; a reply that does not match is asked for again, once or as often as --repair says; then the exit status
  is 8 (SCHEMA_MISMATCH), and the error names the place. Every part of the schema is checked: a keyword, a format or a
  reference that cannot be checked is refused before anything is sent (exit 2). --jq filters that JSON. With --json,
  --json-stream and --batch it stands beside "data" as "value".

  The fields of each command's JSON are listed in docs/json.md of the package.

Examples
  parley models --jq '.data[].name'
  parley sessions list --all --jq '.data.items[] | select(.message_count == 0) | .session_id'
  parley chat -n "Hello" --jq 'if .success then .data.reply else .error.code end'
  parley sessions get "$a" "$b" --jq '[.data.session_id // .session_id, .success] | @tsv'
  parley chat -n "Hello" --json-stream --jq 'select(.event == "delta").data.text'
`;
