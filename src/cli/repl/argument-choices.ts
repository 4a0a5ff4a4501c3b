// Lists the choices for the arguments of slash commands: modes, templates, sessions and files.
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { maxPageItems } from '../../service/limits.ts';
import { anySession } from '../../service/session-archive.ts';
import { templatesOf } from '../chat-template.ts';
import type { CliContext, ServiceAccess } from '../context.ts';
import { filterLine } from '../terminal/filter.ts';
import { titleGlob } from '../title-filter.ts';
import type { CompletionChoice } from './completion.ts';
import { pathIn } from './typed-line.ts';

export async function modeChoices(
  beginning: string,
  context: ServiceAccess,
): Promise<readonly CompletionChoice[]> {
  const { backend } = await context.open();
  const { data } = await backend.service.models(await context.call());
  return data.filter(({ name }) => name.startsWith(beginning)).map(({ name }) => choice(name, name));
}

export async function templateChoices(
  beginning: string,
  { host }: Pick<CliContext, 'host'>,
): Promise<readonly CompletionChoice[]> {
  return templatesOf(host)
    .names()
    .filter((name) => name.startsWith(beginning))
    .map((name) => choice(name, name));
}

/**
 * Finds sessions by the start of their id, among the last active ones, or of their title. Titles match in any letter case. If there are more
 * than one page of them, the last choice is the typed text, so that no text is inserted that another session lacks.
 */
export async function sessionChoices(
  beginning: string,
  context: ServiceAccess,
): Promise<readonly CompletionChoice[]> {
  const { backend } = await context.open();
  const list = async (title_match: string | null) => {
    const query = { limit: maxPageItems, cursor: null, ...anySession, title_match };
    return (await backend.archive.listSessions(await context.call(), query)).data;
  };
  const recent = await list(null);
  const byId = recent.items.filter(({ session_id }) => session_id.startsWith(beginning));
  if (beginning !== '' && byId.length > 0)
    return byId.map(({ session_id, title }) => choice(session_id, `${session_id}  ${title ?? ''}`));
  const isComplete = beginning === '' || recent.next_cursor === null;
  const { items, next_cursor } = isComplete ? recent : await list(titleGlob(beginning, 'start'));
  const byTitle = items.filter(({ title }) => title?.toLowerCase().startsWith(beginning.toLowerCase()));
  // The choice begins with the typed text in its letter case, because a completion only adds text.
  const choices = byTitle.map(({ session_id, title }) =>
    choice(`${beginning}${title?.slice(beginning.length) ?? ''}`, `${title}  ${session_id}`),
  );
  return next_cursor === null ? choices : [...choices, { ...choice(beginning, '…'), isRest: true }];
}

export async function fileChoices(
  beginning: string,
  home: string | undefined,
): Promise<readonly CompletionChoice[]> {
  const path = withHome(beginning, home);
  const isFolder = path === '' || path.endsWith('/');
  const folder = isFolder ? path || '.' : dirname(path);
  const name = isFolder ? '' : basename(path);
  const shown = beginning.slice(0, beginning.length - name.length);
  // macOS stores many names with decomposed accents, which the keyboard does not send.
  const isMeant = (entry: string) => entry.normalize().startsWith(name.normalize());
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => isMeant(entry.name) && (name.startsWith('.') || !entry.name.startsWith('.')))
      .map((entry) => `${entry.name}${leadsInto(entry, folder) ? '/' : ''}`)
      .sort()
      .map((entry) => choice(`${shown}${entry}`, entry));
  } catch {
    return [];
  }
}

/** The choices for a path that may be in quotes or have a backslash before each space ({@link pathIn}). */
export async function writtenFileChoices(
  beginning: string,
  home: string | undefined,
): Promise<readonly CompletionChoice[]> {
  if (beginning.startsWith('"')) {
    const choices = await fileChoices(beginning.slice(1), home);
    return choices.map(({ value, label }) => ({ value: `"${value}`, label }));
  }
  if (!beginning.includes('\\ ')) return fileChoices(beginning, home);
  const choices = await fileChoices(pathIn(beginning), home);
  return choices.map(({ value, label }) => ({ value: value.replaceAll(' ', '\\ '), label }));
}

/** True for a directory, and for a link to one. */
function leadsInto(entry: Dirent, folder: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(join(folder, entry.name)).isDirectory();
  } catch {
    return false;
  }
}

/** Expands `~/` as a shell does. */
export function withHome(path: string, home: string | undefined): string {
  return home !== undefined && path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

function choice(value: string, label: string): CompletionChoice {
  return { value, label: filterLine(label) };
}
