// The text of `parley help formatting`: the forms of output for people and for programs.

export const formattingText = `What parley prints, and in which form.

  stdout is data, stderr is talk: hints, progress, questions, errors. --quiet leaves out hints and progress.
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

  The fields of each command's JSON are listed in docs/json.md of the package.

Examples
  parley models --jq '.data[].name'
  parley sessions list --all --jq '.data.items[] | select(.message_count == 0) | .session_id'
  parley chat -n "Hello" --jq 'if .success then .data.reply else .error.code end'
  parley sessions get "$a" "$b" --jq '[.data.session_id // .session_id, .success] | @tsv'
  parley chat -n "Hello" --json-stream --jq 'select(.event == "delta").data.text'
`;
