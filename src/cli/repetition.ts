// The command that an error prints to repeat a turn under its key: the same place, mode, session and words, whatever is the default, or
// the last session, by the time that it is run.
import { quoteForShell } from '../config/shell-quote.ts';
import { type PlaceGiven, placeOptions } from './same-place.ts';

export interface RepeatedChat {
  readonly words: readonly string[];
  readonly title: string | null;
  readonly reasoning: boolean;
  readonly usage: boolean;
  /** The form of its output; null for text. */
  readonly format: '--json' | '--json-stream' | null;
  readonly mode: string;
  /** The session that it went on with; null for one of its own. */
  readonly session: string | null;
  /** True when the words alone are not the message: files or stdin went into it. */
  readonly hasMore: boolean;
  readonly key: string;
}

const mostCharacters = 200;

export function repetition(chat: RepeatedChat, place: PlaceGiven): string {
  const { mode, session, title, key } = chat;
  const words = chat.words.join(' ');
  const fixed = ['--idempotency-key', key, '-m', quoteForShell(mode)];
  if (session !== null) fixed.push('-s', quoteForShell(session));
  const isShort = words !== '' && words.length <= mostCharacters && !/\p{Cc}/u.test(words);
  if (!isShort || chat.hasMore) {
    const other = session === null ? '' : ' (and without -c)';
    return `the same command with ${fixed.join(' ')}${other}`;
  }
  const flags = [
    ...placeOptions(place).map(quoteForShell),
    title !== null && `--title ${quoteForShell(title)}`,
    chat.format,
    chat.usage && '--usage',
    chat.reasoning && '--reasoning',
    '-n',
    words.startsWith('-') && '--',
  ];
  return ['parley chat', ...fixed, ...flags.filter(Boolean), quoteForShell(words)].join(' ');
}
