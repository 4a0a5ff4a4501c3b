// The words of `sessions tag` that remove tags, as in `-work`. They look like options, so they become `--remove=work` before commander parses
// the command line.

/** The short options of the command. A tag with such a name is removed with `--remove`. */
const shortOptions: readonly string[] = ['-h', '-y'];

export function expandTagRemovals(argv: readonly string[]): readonly string[] {
  const group = argv.indexOf('sessions');
  if (group === -1 || argv[group + 1] !== 'tag') return argv;
  const end = argv.indexOf('--');
  return argv.map((word, at) =>
    at > group && (end === -1 || at < end) && /^-[^-]/.test(word) && !shortOptions.includes(word)
      ? `--remove=${word.slice(1)}`
      : word,
  );
}
