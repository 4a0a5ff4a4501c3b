// The outcome of an item in the words of a summary.

/** What a dry run says of an item. Every other outcome is written as it is, with spaces. */
const planned: Readonly<Record<string, string>> = {
  would_delete: 'would be deleted',
  would_pin: 'would be pinned',
  would_unpin: 'would be unpinned',
  would_archive: 'would be archived',
  would_unarchive: 'would be unarchived',
  would_tag: 'would be tagged',
  would_import: 'would be imported',
  would_push: 'would be pushed',
  would_pull: 'would be pulled',
  would_change: 'would be changed',
  would_fork: 'would be forked',
  would_restore: 'would be restored',
  would_redact: 'would be redacted',
};

export function outcomeText(outcome: string): string {
  return planned[outcome] ?? outcome.replaceAll('_', ' ');
}
