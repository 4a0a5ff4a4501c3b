// The columns of the tables of visible and hidden messages. A message that is hidden or shown moves from one table to the other with all
// its columns.
import { messageColumns } from '../rows.ts';

/** All columns of a message besides its session. */
export const movedColumns = `position, message_id, role, mode, finish_reason, input_tokens, output_tokens,
      first_token_ms, error_code, created_at, content, copied`;

/** The columns of a visible message that the statement calls `message`, and those that only a hidden one fills. */
export const visibleColumns = `${messageColumns}, NULL::text AS alternative_of, NULL::bigint AS undone_at`;
