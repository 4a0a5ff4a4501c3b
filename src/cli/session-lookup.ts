// Looks up a session by the last characters of its id, or by its title: first the whole title, then a unique beginning of one. Both use the
// listing. Its results are checked again here, because a server may ignore a filter.
import { hasCode, ParleyError } from '../service/errors.ts';
import { maxPageItems } from '../service/limits.ts';
import { quoted } from '../service/quoted.ts';
import type { Session } from '../service/session.ts';
import { anySession, type SessionQuery } from '../service/session-archive.ts';
import type { ServiceAccess } from './context.ts';
import { counted } from './counted.ts';
import { everyPage } from './every-page.ts';
import { localTime } from './shown-time.ts';
import { titleGlob } from './title-filter.ts';

/** Whether to look among the active or the deleted sessions. */
export type SessionState = 'active' | 'deleted';

/** The shortest end of an id that identifies a session. */
const minSuffixLength = 6;
/** How many sessions the failure lists if several match. */
const maxListed = 10;
/** How many pages of titles are read at most. */
const maxPages = 5;

/** Null if there is no match. Throws `USAGE` if there are several. */
export async function lookUpSession(
  text: string,
  context: ServiceAccess,
  state: SessionState,
): Promise<Session | null> {
  try {
    const byId = await findBySuffix(text, context, state);
    return byId.length > 0 ? requireSingle(text, byId) : await findByTitle(text, context, state);
  } catch (error) {
    if (!hasCode(error, 'UNSUPPORTED')) throw error;
    throw new ParleyError('USAGE', `${quoted(text)} is not a session id.`, {
      hint: 'Nothing was done. This server cannot list sessions, so pass a full id.',
      details: [{ field: 'session_id', problem: 'is not a session id' }],
    });
  }
}

async function findBySuffix(
  text: string,
  context: ServiceAccess,
  state: SessionState,
): Promise<readonly Session[]> {
  if (text.length < minSuffixLength || !/^[\w-]{6,204}$/.test(text)) return [];
  try {
    const found = (await listSessions({ id_suffix: text }, 1, context, state)).items;
    const ending = found.filter(({ session_id }) => session_id.endsWith(text));
    const exact = ending.filter(({ session_id }) => session_id === text);
    return exact.length > 0 ? exact : ending;
  } catch (error) {
    // A server of an earlier version does not know this filter.
    if (hasCode(error, 'INVALID_REQUEST')) return [];
    throw error;
  }
}

async function findByTitle(
  text: string,
  context: ServiceAccess,
  state: SessionState,
): Promise<Session | null> {
  const { items, isAll } = await listSessions(
    { title_match: titleGlob(text, 'start') },
    maxPages,
    context,
    state,
  );
  const lowered = text.toLowerCase();
  for (const matches of [
    (title: string) => title === text,
    (title: string) => title.toLowerCase() === lowered,
    (title: string) => title.toLowerCase().startsWith(lowered),
  ]) {
    const found = items.filter(({ title }) => title !== null && matches(title));
    if (found.length > 0 && !isAll) throw ambiguous(text, found);
    if (found.length > 0) return requireSingle(text, found);
  }
  return null;
}

async function listSessions(
  filter: Partial<SessionQuery>,
  maxPages: number,
  context: ServiceAccess,
  state: SessionState,
): Promise<{ readonly items: readonly Session[]; readonly isAll: boolean }> {
  const { backend } = await context.open();
  const query = { ...anySession, ...filter, limit: maxPageItems, deleted: state === 'deleted' };
  const fetchPage = async (cursor: string | null) =>
    backend.archive.listSessions(await context.call(), { ...query, cursor });
  const items: Session[] = [];
  let pages = 0;
  for await (const { data } of everyPage(fetchPage)) {
    items.push(...data.items);
    pages += 1;
    if (data.next_cursor === null) break;
    if (pages === maxPages) return { items, isAll: false };
  }
  return { items, isAll: true };
}

function requireSingle(text: string, found: readonly Session[]): Session | null {
  if (found.length > 1) throw ambiguous(text, found);
  return found[0] ?? null;
}

function ambiguous(text: string, found: readonly Session[]): ParleyError {
  const examples = found.slice(0, maxListed);
  const lines = examples.map(({ session_id, title, updated_at }) => {
    const time = Date.parse(updated_at);
    // Without words around the time, most lines fit in 80 columns.
    const activity = Number.isNaN(time) ? '' : `, ${localTime(time)}`;
    return `  ${session_id}  ${title === null ? '(no title)' : quoted(title)}${activity}`;
  });
  const more = found.length > examples.length ? '\n  …' : '';
  return new ParleyError('USAGE', `${quoted(text)} matches ${counted(found.length, 'session')}.`, {
    hint: `${lines.join('\n')}${more}\nNothing was done. Name one by its id, or by the last characters of its id.`,
    details: examples.map(({ session_id, title }) => ({ field: session_id, problem: title ?? 'no title' })),
  });
}
