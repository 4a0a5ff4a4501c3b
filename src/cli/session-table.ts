// The columns of sessions at a terminal: title, time, mode, number of messages, and the end of the id, which is enough to name the session.
// A narrow terminal gets fewer columns. Pipes get other columns (commands/sessions/list.ts).
import type { Session } from '../service/session.ts';
import type { SessionOrder } from '../service/session-archive.ts';
import { counted } from './counted.ts';
import { shownDay, shownTime } from './shown-time.ts';
import type { Column } from './terminal/table.ts';

export interface SessionDisplay {
  readonly columns: number;
  readonly now: number;
  readonly utc: boolean;
}

const minIdCharacters = 8;
const maxModeColumns = 16;
/** Below these widths, first the messages and then the mode are left out, and an old time is only a date. */
const wideColumns = 76;
const narrowColumns = 56;

const timeTitle = { updated: 'LAST ACTIVITY', created: 'CREATED' } as const;

/** The list shows the time that it is sorted by, as `ls` does. */
export function sessionColumns(
  sessions: readonly Session[],
  sort: SessionOrder['sort'],
  { columns, now, utc }: SessionDisplay,
): readonly Column<Session>[] {
  const length = idLength(sessions);
  const when = columns < wideColumns ? shownDay : shownTime;
  return [
    { title: 'TITLE', value: markedTitle, flexible: true },
    {
      title: columns < wideColumns && sort === 'updated' ? 'ACTIVE' : timeTitle[sort],
      value: (session) => when(session[`${sort}_at`], now, { utc }),
    },
    ...(columns < narrowColumns
      ? []
      : [{ title: 'MODE', value: ({ mode }: Session) => shortenMode(mode ?? '') }]),
    ...(columns < wideColumns ? [] : [{ title: 'MESSAGES', value: messageCount }]),
    { title: 'ID', value: ({ session_id }) => session_id.slice(-length) },
    ...(columns < wideColumns || !sessions.some(({ parent_id }) => parent_id !== null)
      ? []
      : [{ title: 'COPY OF', value: ({ parent_id }: Session) => parent_id?.slice(-length) ?? '' }]),
  ];
}

/** The facts of a session in one line: `2 h ago · 4 messages · gpt · 58f4abcd`. */
export function sessionFacts(session: Session, { columns, now, utc }: SessionDisplay): string {
  const { updated_at, message_count, mode, session_id } = session;
  const when = columns < wideColumns ? shownDay : shownTime;
  return [
    when(updated_at, now, { utc }),
    ...(columns < wideColumns ? [] : [counted(message_count, 'message')]),
    ...(columns < narrowColumns || mode === null ? [] : [shortenMode(mode)]),
    ...orderingMarks(session),
    session_id.slice(-minIdCharacters),
  ].join(' · ');
}

export function titleOrNone({ title }: Pick<Session, 'title'>): string {
  return title ?? '(no title)';
}

/** The title with a mark for a pinned session in front and the tags behind. */
function markedTitle(session: Session): string {
  const tags = session.tags.map((tag) => ` #${tag}`).join('');
  return `${session.pinned ? '* ' : ''}${titleOrNone(session)}${tags}`;
}

function orderingMarks({ pinned, archived, tags }: Session): readonly string[] {
  return [...(pinned ? ['pinned'] : []), ...(archived ? ['archived'] : []), ...tags.map((tag) => `#${tag}`)];
}

function messageCount({ message_count }: Session): string {
  return String(message_count);
}

/** The shortest length at which the ends of the ids differ. */
function idLength(sessions: readonly Session[]): number {
  for (let length = minIdCharacters; length < 32; length++) {
    if (new Set(sessions.map(({ session_id }) => session_id.slice(-length))).size === sessions.length)
      return length;
  }
  return 32;
}

function shortenMode(mode: string): string {
  const characters = [...mode];
  return characters.length > maxModeColumns ? `${characters.slice(0, maxModeColumns - 1).join('')}…` : mode;
}
