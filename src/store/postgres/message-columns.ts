// The columns of the tables of visible and hidden messages. A message that is hidden or shown moves from one table to the other with all
// its columns.
import type { Message } from '../../service/session.ts';
import { messageColumns } from '../rows.ts';

/** All columns of a message besides its session. */
export const movedColumns = `position, message_id, role, mode, finish_reason, input_tokens, output_tokens,
      first_token_ms, error_code, created_at, content, copied`;

/** The arrays of all columns, those of a hidden message included, for unnest(); the first one is the value with the number `first`. */
export function messageArrays(first: number): string {
  return 'integer text text text text bigint bigint bigint text bigint text boolean text bigint'
    .split(' ')
    .map((type, index) => `$${first + index}::${type}[]`)
    .join(', ');
}

/** SQL: the messages of {@link messageArrays} as the table `input`. */
export function inputMessages(first: number): string {
  return `unnest(${messageArrays(first)}) AS input (${movedColumns}, alternative_of, undone_at)`;
}

/** SQL: the columns of a visible message, from the table `input`. */
export const inputColumns = movedColumns.replaceAll(/\w+/g, 'input.$&');

/** The values of {@link messageArrays}. The last two arguments are what a message does not say of itself. */
export function messageValues(
  messages: readonly Message[],
  isCopy: (message: Message) => boolean,
  firstTokenMs: (message: Message) => number | null = () => null,
): readonly unknown[] {
  return [
    messages.map(({ position }) => position),
    messages.map(({ message_id }) => message_id),
    messages.map(({ role }) => role),
    messages.map(({ mode }) => mode),
    messages.map(({ finish_reason }) => finish_reason),
    messages.map(({ usage }) => usage?.input_tokens ?? null),
    messages.map(({ usage }) => usage?.output_tokens ?? null),
    messages.map(firstTokenMs),
    messages.map(({ error_code }) => error_code ?? null),
    messages.map(({ created_at }) => Date.parse(created_at)),
    messages.map(({ content }) => content),
    messages.map(isCopy),
    messages.map(({ alternative_of }) => alternative_of ?? null),
    messages.map(({ undone_at }) => (undone_at === undefined ? null : Date.parse(undone_at))),
  ];
}

/** The columns of a visible message that the statement calls `message`, and those that only a hidden one fills. */
export const visibleColumns = `${messageColumns}, NULL::text AS alternative_of, NULL::bigint AS undone_at`;
