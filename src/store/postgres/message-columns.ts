// The columns of the tables of visible and hidden messages. A message that is hidden or shown moves from one table to the other with all
// its columns.
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

/** The columns of a visible message that the statement calls `message`, and those that only a hidden one fills. */
export const visibleColumns = `${messageColumns}, NULL::text AS alternative_of, NULL::bigint AS undone_at`;
