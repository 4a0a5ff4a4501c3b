// Finds a session by its id or by a part of its title, either directly or from a list that narrows while the user types.
import { hasCode, ParleyError } from '../../service/errors.ts';
import { maxPageItems } from '../../service/limits.ts';
import { beginning, quoted } from '../../service/quoted.ts';
import type { Session } from '../../service/session.ts';
import { anySession } from '../../service/session-archive.ts';
import type { CliContext, ServiceAccess } from '../context.ts';
import { fetchNamedSession, fetchSession, type SessionAccess } from '../session-reference.ts';
import { sessionFacts, titleOrNone } from '../session-table.ts';
import { filterLine, oneLine } from '../terminal/filter.ts';
import { choose } from '../terminal/prompt.ts';
import type { Measure } from '../terminal/table.ts';
import { cut } from '../terminal/table.ts';
import { titleGlob } from '../title-filter.ts';
import { shortTitle } from './short-title.ts';

/** The mode is null if the server does not report it. */
export type FoundSession = Pick<Session, 'session_id' | 'title' | 'mode'>;

/** The number of sessions that are listed on a terminal without a picker. */
const maxListedSessions = 20;
/** The number of characters of a title that are shown. */
const maxShownCharacters = 60;
/** On a narrower terminal the list shows titles alone. */
const minColumnsWithFacts = 50;

/** Returns null if no session was picked. */
export async function pickSession(words: string, context: CliContext): Promise<FoundSession | null> {
  const first = await sessionsWith(words, context);
  if (first.length === 0) {
    await context.say(words === '' ? 'There are no sessions yet.' : `No title contains ${quoted(words)}.`);
    return null;
  }
  // The picker needs a terminal on which the cursor can move.
  if (!context.stderr.redraws) {
    for (const session of first.slice(0, maxListedSessions)) {
      await context.stdout.write(`${session.session_id}  ${oneLine(titleOrNone(session))}\n`);
    }
    await context.say('To continue one: /resume with its id, or with a part of its title.');
    return null;
  }
  const { textWidth: measure } = await import('../terminal/text-width.ts');
  const id = await choose(
    'Which session?',
    {
      initial: words,
      source: async (term) =>
        (await sessionsWith(term, context)).map((session) => ({
          value: session.session_id,
          name: label(session, context.stderr.columns(), context.host.now(), measure),
          short: shortTitle(session.title ?? session.session_id, maxShownCharacters),
        })),
    },
    context.prompting,
  );
  return fetchSession(id, context);
}

/** Returns the session with this id, end of an id, or title. */
export async function namedSession(text: string, context: SessionAccess): Promise<FoundSession> {
  try {
    return await fetchNamedSession(text, context);
  } catch (error) {
    if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
    throw error.with({ hint: '/sessions lists the sessions.', remedy: null });
  }
}

/** The same. If there is none, it returns the only session whose title contains the text. */
export async function findSession(text: string, context: SessionAccess): Promise<FoundSession> {
  try {
    return await namedSession(text, context);
  } catch (error) {
    if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
    const [first, second] = await sessionsWith(text, context, 'none');
    if (first === undefined) throw error;
    if (second === undefined) return first;
    throw new ParleyError('USAGE', `Several sessions have ${quoted(text)} in their title.`, {
      hint: `/sessions ${beginning(text)} lets you pick one.`,
    });
  }
}

/** The sessions with these words in their title, the most recently active first. Without words, archived sessions are left out. */
async function sessionsWith(
  words: string,
  context: ServiceAccess,
  ifUnsupported: 'none' | 'throw' = 'throw',
): Promise<readonly Session[]> {
  const { backend } = await context.open();
  const title_match = words === '' ? null : titleGlob(words, 'anywhere');
  const query = {
    limit: maxPageItems,
    cursor: null,
    ...anySession,
    title_match,
    archived: words === '' ? false : null,
  };
  try {
    return (await backend.archive.listSessions(await context.call(), query)).data.items;
  } catch (error) {
    if (ifUnsupported === 'none' && hasCode(error, 'UNSUPPORTED')) return [];
    throw error;
  }
}

/** One row for a session. On a narrow terminal it shows the title alone. */
function label(session: Session, columns: number, now: number, measure: Measure): string {
  const facts =
    columns < minColumnsWithFacts
      ? ''
      : `  ${filterLine(sessionFacts(session, { columns, now, utc: false }))}`;
  const room = Math.max(10, columns - measure(facts) - 4);
  const title = cut(filterLine(titleOrNone(session)), room, measure);
  return title + ' '.repeat(Math.max(0, Math.min(maxShownCharacters, room) - measure(title))) + facts;
}
