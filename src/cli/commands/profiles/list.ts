// `parley profiles list`: lists the profiles, with the current one marked.
import type { Command } from 'commander';
import { listProfiles } from '../../../config/profiles.ts';
import { shownAddress } from '../../../config/shown-address.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';

/** Contains no key and no password, because they are never shown. */
interface ProfileRow {
  readonly name: string;
  /** Null for the embedded service. */
  readonly url: string | null;
  /** The address of a PostgreSQL store; null for a server, and for SQLite on this machine. */
  readonly store: string | null;
  readonly mode: string | null;
  readonly current: boolean;
}

const columns: readonly Column<ProfileRow>[] = [
  { title: 'CURRENT', value: ({ current }) => (current ? '*' : '') },
  { title: 'PROFILE', value: ({ name }) => name },
  { title: 'URL', value: ({ url, store }) => url ?? store ?? 'embedded', flexible: true },
  { title: 'MODE', value: ({ mode }) => mode ?? '' },
];

export function registerProfilesList(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('list the profiles; * marks the one in use')
    .action(run(runProfilesList));
}

export async function runProfilesList(context: CliContext): Promise<void> {
  const profiles: readonly ProfileRow[] = listProfiles(context.host.profileFile.read()).map(
    ({ name, url, store, mode, isCurrent }) => ({
      name,
      url: url && shownAddress(url),
      store: store && shownAddress(store),
      mode,
      current: isCurrent,
    }),
  );
  if (context.options.json) return context.stdout.write(successLine(profiles));
  await writeTable(context.stdout, columns, profiles);
}
