// The schemas of a session to import, with its messages.
import { z } from 'zod';
import { importedMessages } from '../service/limits.ts';
import type { SessionRecord } from '../service/session-archive.ts';
import { message, session } from './schemas.ts';

export const sessionRecord = z.strictObject({
  session,
  messages: z.array(message).meta({ maxItems: importedMessages }).describe('by position, from 0'),
  hidden_messages: z
    .array(message)
    .meta({ maxItems: importedMessages })
    .exactOptional()
    .describe('replaced replies and undone turns'),
  replaces: z
    .strictObject({
      session: session.describe(
        'the stored session as it was read; if it has changed since, the import fails with SESSION_BUSY',
      ),
      kept_in: z
        .string()
        .nullable()
        .exactOptional()
        .describe('a session with the stored messages that are not in this record'),
    })
    .exactOptional()
    .describe('to replace the stored session with this id; every stored message is kept'),
}) satisfies z.ZodType<SessionRecord>;

/** A session to import, before the service checks it. The service reports only the first fault of a record. */
export const anyRecord = z.strictObject({
  session: z.unknown(),
  messages: z.array(z.unknown()),
  hidden_messages: z.array(z.unknown()).optional(),
  replaces: z.unknown().optional(),
});
