// The text of `parley help formatting`: the output formats for people and for programs. It is wrapped to the width of the output.

export const formattingText = `Output formats

  Data goes to stdout; hints, progress, questions and errors go to stderr. --quiet hides hints and progress. Without a terminal, --progress reports the progress of long work every 10 s.

  On a terminal, listings are tables that fit its width. In a pipe they are complete, tab-separated and without titles.

  On a terminal, control characters in untrusted text are made visible. A pipe gets the exact bytes.

JSON
  --json         prints only JSON on stdout: {"success":true,"data":…} or {"success":false,"error":{"code","message"}} on one line. It is the service's own body where there is one. Commands over many sessions print one line per session.
  --json-stream  (chat) prints a line of JSON for each event as it arrives.
  --jq FILTER    implies --json, and sends each value through a filter of the built-in jq 1.7. Strings are printed raw, everything else as compact JSON. Failures are filtered, too: they have "success": false. An invalid filter is reported before anything is done (exit 2). A filter that fails on a value is reported at the end, and an otherwise successful command then exits with 1 (FILTER_FAILED).

Replies that match a schema
  chat --schema FILE prints JSON that matches the JSON Schema (2020-12) in FILE, on one line, or nothing. If the reply does not match, the model is asked again, once or as often as --repair says. If no reply matches, the exit status is 8 (SCHEMA_MISMATCH), and the error names the place. Every part of the schema is checked: a keyword, a format or a reference that is not supported is refused before anything is sent (exit 2). --jq filters the JSON of the reply. With --json, --json-stream and --batch, it is in "value", beside "data".

  The fields of each command's JSON are listed in docs/json.md of the package.

Examples
  parley models --jq '.data[].name'
  parley sessions list --all --jq '.data.items[] | select(.message_count == 0) | .session_id'
  parley chat -n "Hello" --jq 'if .success then .data.reply else .error.code end'
  parley sessions get "$a" "$b" --jq '[.data.session_id // .session_id, .success] | @tsv'
  parley chat -n "Hello" --json-stream --jq 'select(.event == "delta").data.text'
`;
