// The scripts that `parley completion` prints. At Tab, each calls `parley __complete` and treats its output as plain text, because titles and
// ids may come from any server.

const bash = String.raw`# Completes the words of parley in bash.
_parley() {
  local rest=\${COMP_LINE:0:COMP_POINT} gap part='' current stem line value files='' i
  local -a words=() titled=()
  # bash also splits words at = and :. Parts without a space between them are one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    gap=\${rest%%[![:space:]]*}
    rest=\${rest#"$gap"}
    part=\${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then part=$rest; fi
    rest=\${rest#"$part"}
    if [[ -z $gap && $i -gt 0 ]]; then
      words[\${#words[@]}-1]+=$part
    else
      words+=("$part")
    fi
  done
  current=\${words[\${#words[@]}-1]}
  # Readline replaces only the last part of a split word. bash 3.2, which macOS has, passes whole words.
  if ((BASH_VERSINFO[0] < 4)); then part=\${part##*[=:]}; fi
  if [[ $part == [=:] ]]; then part=''; fi
  stem=\${current%"$part"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
    else
      value=\${line%%$'\t'*}
      if [[ $value == "$current"* ]]; then
        printf -v value %q "\${value#"$stem"}"
        COMPREPLY+=("$value")
        if [[ $value == ses_* && $line == *$'\t'* ]]; then value+="  \${line#*$'\t'}"; fi
        titled+=("$value")
      fi
    fi
  done < <(parley __complete -- "\${words[@]:1}" 2>/dev/null)
  # A list of several ids shows their titles. Only the common beginning of the ids is inserted.
  if [[ \${COMP_TYPE:-} == 33 || \${COMP_TYPE:-} == 63 ]] && ((\${#COMPREPLY[@]} > 1)); then COMPREPLY=("\${titled[@]}"); fi
  if [[ -n $files ]]; then
    # bash 3.2 has no compopt. It completes file names itself if there is no reply.
    if ((BASH_VERSINFO[0] < 4)); then return; fi
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$part")
  else
    compopt -o nosort 2>/dev/null
  fi
}
if ((BASH_VERSINFO[0] < 4)); then complete -o default -F _parley parley; else complete -F _parley parley; fi
`;

const zsh = String.raw`#compdef parley
# Completes the words of parley in zsh.
_parley() {
  local line value tab=$'\t'
  local -a lines values shown
  local -i files=0 width=0 i
  lines=("\${(@f)$(parley __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)IPREFIX}\${(Q)PREFIX}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then
      files=1
    else
      values+=("\${line%%$tab*}")
      if (( $#values[-1] > width )); then width=$#values[-1]; fi
    fi
  done
  for line in $lines; do
    if [[ $line == *$tab* ]]; then
      shown+=("\${(r:width:)\${line%%$tab*}}  -- \${line#*$tab}")
    elif [[ $line != :files ]]; then
      shown+=("$line")
    fi
  done
  # zsh does not wrap these rows between words, so they are cut.
  for ((i = 1; i <= $#shown; i++)); do
    if (( \${(m)#shown[i]} >= COLUMNS )); then shown[i]=\${(mr:COLUMNS-1:)shown[i]}; fi
  done
  if (( $#values )); then compadd -l -V parley -d shown -a values; fi
  if (( files )); then _files; fi
}
if [[ "$funcstack[1]" == _parley ]]; then
  _parley "$@"
else
  if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit -i; fi
  compdef _parley parley
fi
`;

const fish = String.raw`# Completes the words of parley in fish.
function __parley_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l files 0
    for line in (parley __complete -- $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            set files 1
        else
            printf '%s\n' "$line"
        end
    end
    if test $files = 1
        __fish_complete_path "$current"
    end
end
complete -c parley -k -f -a '(__parley_complete)'
`;

export const completionScripts = { bash: unescaped(bash), zsh: unescaped(zsh), fish };

/** Removes the backslashes that keep `${` in the scripts from being a JavaScript substitution. */
function unescaped(script: string): string {
  return script.replaceAll('\\${', '${');
}
