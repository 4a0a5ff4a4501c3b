// The outcome of an item as a summary shows it.

/** The outcomes of dry runs. Every other outcome is shown with spaces for underscores. */
const dryRunText: Readonly<Record<string, string>> = {
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
  return dryRunText[outcome] ?? outcome.replaceAll('_', ' ');
}
