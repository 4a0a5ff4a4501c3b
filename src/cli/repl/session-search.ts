// Finds a session by its id or by a part of its title: by name, or from a list that narrows while the person types.
import { ParleyError } from '../../service/errors.ts';
import { largestPage } from '../../service/limits.ts';
import { beginning, quoted } from '../../service/quoted.ts';
import { isSessionId, type NewSession, type Session } from '../../service/session.ts';
import { anySession } from '../../service/session-archive.ts';
import type { CliContext, ServiceAccess } from '../context.ts';
import { filterLine, oneLine } from '../terminal/filter.ts';
import { choose } from '../terminal/prompt.ts';
import type { Measure } from '../terminal/table.ts';
import { cut } from '../terminal/table.ts';
import { shortTitle } from './short-title.ts';

type Found = Pick<NewSession, 'session_id' | 'title'>;

/** The most sessions listed on a terminal where none can be picked. */
const shownAtOnce = 20;
/** The most characters shown of the picked title. */
const longestShown = 60;
const narrowest = 50;

/** Null if the person picked none. */
export async function pickSession(words: string, context: CliContext): Promise<Found | null> {
  const first = await sessionsWith(words, context);
  if (first.length === 0) {
    await context.say(words === '' ? 'There is no session yet.' : `No title holds ${quoted(words)}.`);
    return null;
  }
  // The list moves the cursor while it narrows.
  if (!context.stderr.redraws) {
    for (const session of first.slice(0, shownAtOnce)) {
      await context.stdout.write(`${session.session_id}  ${oneLine(session.title ?? '(no title)')}\n`);
    }
    await context.say('Go on with one: /resume and its id, or a part of its title.');
    return null;
  }
  const { default: measure } = await import('string-width');
  const id = await choose(
    'Which session?',
    {
      initial: words,
      source: async (term) =>
        (await sessionsWith(term, context)).map((session) => ({
          value: session.session_id,
          name: label(session, context.stderr.columns(), measure),
          short: shortTitle(session.title ?? session.session_id, longestShown),
        })),
    },
    context.prompting,
  );
  const { backend } = await context.open();
  return (await backend.service.getSession(await context.call(), id)).data;
}

/** The session with this id. Otherwise the only session whose title is the text, begins with it, or contains it. */
export async function findSession(text: string, context: ServiceAccess): Promise<Found> {
  const { backend } = await context.open();
  if (isSessionId(text)) {
    try {
      return (await backend.service.getSession(await context.call(), text)).data;
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'SESSION_NOT_FOUND') throw error;
    }
  }
  const sought = text.toLowerCase();
  const sessions = (await sessionsWith(text, context, 'UNSUPPORTED means none')).filter(
    ({ title }) => title !== null,
  );
  const titled = (matches: (title: string) => boolean) =>
    sessions.filter(({ title }) => matches((title ?? '').toLowerCase()));
  for (const found of [
    titled((title) => title === sought),
    titled((title) => title.startsWith(sought)),
    sessions,
  ]) {
    const [first, second] = found;
    if (first !== undefined && second === undefined) return first;
    if (second !== undefined) {
      throw new ParleyError('USAGE', `${found.length} sessions have ${quoted(text)} in their title.`, {
        hint: `/sessions ${beginning(text)} lets you pick one.`,
      });
    }
  }
  throw new ParleyError('SESSION_NOT_FOUND', `No session has the id or the title ${quoted(text)}.`, {
    hint: '/sessions shows which there are.',
  });
}

/** The sessions with these words in their title, the last active first. */
async function sessionsWith(
  words: string,
  context: ServiceAccess,
  lacking: 'UNSUPPORTED means none' | 'throws' = 'throws',
): Promise<readonly Session[]> {
  const { backend } = await context.open();
  const title_match = words === '' ? null : anyCase(words);
  const query = { limit: largestPage, cursor: null, ...anySession, title_match };
  try {
    return (await backend.archive.listSessions(await context.call(), query)).data.items;
  } catch (error) {
    if (lacking !== 'throws' && error instanceof ParleyError && error.code === 'UNSUPPORTED') return [];
    throw error;
  }
}

/** A glob that matches these words in any letter case, anywhere in a title. */
function anyCase(words: string): string {
  const pattern = [...words].map((character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    if (lower !== upper && [...lower, ...upper].length === 2) return `[${lower}${upper}]`;
    return /[*?[]/.test(character) ? `[${character}]` : character;
  });
  return `*${pattern.join('')}*`;
}

/** One row for a session. On a narrow terminal it shows the title alone. */
function label({ title, message_count, updated_at }: Session, columns: number, measure: Measure): string {
  const all = `  ${updated_at.slice(0, 16).replace('T', ' ')}, ${message_count} messages`;
  const facts = columns < narrowest ? '' : all;
  const room = Math.max(10, columns - facts.length - 4);
  return cut(filterLine(title ?? '(no title)'), room, measure) + facts;
}
