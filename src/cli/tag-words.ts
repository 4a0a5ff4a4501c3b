// The words of `sessions tag` that remove tags. Such a word looks like an option, so it becomes one before the options are read.

/** Names of one letter that are options of the command. A tag of one such letter is removed with `--remove`. */
const options: readonly string[] = ['-h', '-y'];

export function withRemovedTags(argv: readonly string[]): readonly string[] {
  const group = argv.indexOf('sessions');
  if (group === -1 || argv[group + 1] !== 'tag') return argv;
  const end = argv.indexOf('--');
  return argv.map((word, at) =>
    at > group && (end === -1 || at < end) && /^-[^-]/.test(word) && !options.includes(word)
      ? `--remove=${word.slice(1)}`
      : word,
  );
}
