// Looks a session up by the last characters of its id, or by its title: the whole title first, then the beginning of the only one that
// begins so. Listings answer both. What they give is tested here again, because a server may not know a filter.
import { ParleyError } from '../service/errors.ts';
import { largestPage } from '../service/limits.ts';
import { quoted } from '../service/quoted.ts';
import type { Session } from '../service/session.ts';
import { anySession, type SessionQuery } from '../service/session-archive.ts';
import type { ServiceAccess } from './context.ts';
import { counted } from './counted.ts';
import { everyPage } from './every-page.ts';
import { titleGlob } from './title-filter.ts';

/** `active` sessions, or `deleted` ones. */
export type SessionState = 'active' | 'deleted';

/** A text of fewer characters is no end of an id. */
const fewestOfId = 6;
/** So many sessions are named in the failure when several are meant. */
const mostNamed = 10;
/** More titles than on so many pages are not read. */
const mostPages = 5;

/** Null if there is none. Throws `USAGE` if there are several. */
export async function lookUpSession(
  text: string,
  context: ServiceAccess,
  state: SessionState,
): Promise<Session | null> {
  try {
    const byId = await withSuffix(text, context, state);
    return byId.length > 0 ? onlyOne(text, byId) : await titled(text, context, state);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'UNSUPPORTED') throw error;
    throw new ParleyError('USAGE', `${quoted(text)} is not a session id.`, {
      hint: 'Nothing was done. This server has no listing to find a title in: give a full id.',
      details: [{ field: 'session_id', problem: 'is not a session id' }],
    });
  }
}

async function withSuffix(
  text: string,
  context: ServiceAccess,
  state: SessionState,
): Promise<readonly Session[]> {
  if (text.length < fewestOfId || !/^[\w-]{6,204}$/.test(text)) return [];
  try {
    const found = (await sessions({ id_suffix: text }, 1, context, state)).items;
    const ending = found.filter(({ session_id }) => session_id.endsWith(text));
    const same = ending.filter(({ session_id }) => session_id === text);
    return same.length > 0 ? same : ending;
  } catch (error) {
    // A server of an earlier version does not know this filter.
    if (error instanceof ParleyError && error.code === 'INVALID_REQUEST') return [];
    throw error;
  }
}

async function titled(text: string, context: ServiceAccess, state: SessionState): Promise<Session | null> {
  const { items, isAll } = await sessions(
    { title_match: titleGlob(text, 'begin') },
    mostPages,
    context,
    state,
  );
  const sought = text.toLowerCase();
  for (const matches of [
    (title: string) => title === text,
    (title: string) => title.toLowerCase() === sought,
    (title: string) => title.toLowerCase().startsWith(sought),
  ]) {
    const found = items.filter(({ title }) => title !== null && matches(title));
    if (found.length > 0 && !isAll) throw tooMany(text, found);
    if (found.length > 0) return onlyOne(text, found);
  }
  return null;
}

async function sessions(
  filter: Partial<SessionQuery>,
  mostPages: number,
  context: ServiceAccess,
  state: SessionState,
): Promise<{ readonly items: readonly Session[]; readonly isAll: boolean }> {
  const { backend } = await context.open();
  const query = { ...anySession, ...filter, limit: largestPage, deleted: state === 'deleted' };
  const ask = async (cursor: string | null) =>
    backend.archive.listSessions(await context.call(), { ...query, cursor });
  const items: Session[] = [];
  let pages = 0;
  for await (const { data } of everyPage(ask)) {
    items.push(...data.items);
    pages += 1;
    if (data.next_cursor === null) break;
    if (pages === mostPages) return { items, isAll: false };
  }
  return { items, isAll: true };
}

function onlyOne(text: string, found: readonly Session[]): Session | null {
  if (found.length > 1) throw tooMany(text, found);
  return found[0] ?? null;
}

function tooMany(text: string, found: readonly Session[]): ParleyError {
  const named = found.slice(0, mostNamed);
  const lines = named.map(
    ({ session_id, title }) => `  ${session_id}  ${title === null ? '(no title)' : quoted(title)}`,
  );
  const more = found.length > named.length ? '\n  …' : '';
  return new ParleyError('USAGE', `${counted(found.length, 'session')} may be meant by ${quoted(text)}.`, {
    hint: `${lines.join('\n')}${more}\nNothing was done. Name one by its id, or by the last characters of it.`,
    details: named.map(({ session_id, title }) => ({ field: session_id, problem: title ?? 'no title' })),
  });
}
