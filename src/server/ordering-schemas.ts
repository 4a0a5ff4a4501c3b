// The schemas of the ordering of sessions: its fields, the bodies that change it, and the conditions of listings and searches.
import { z } from 'zod';
import { defaultLimits } from '../service/limits.ts';
import type { SessionOrdering } from '../service/session.ts';
import type { OrderedResult } from '../service/session-archive.ts';
import { archivedValues } from '../wire/session-filter.ts';

const tagRule = `1 to ${defaultLimits.tagCharacters} visible characters without spaces or commas, not starting with + or -`;
const tags = (description: string) =>
  z.array(z.string()).meta({ maxItems: defaultLimits.tags }).describe(description);

export const orderingFields = {
  pinned: z.boolean().describe('marked by its user'),
  archived: z.boolean().describe('left out of listings unless requested'),
  tags: tags('sorted, without duplicates'),
} satisfies { readonly [Name in keyof SessionOrdering]: z.ZodType };

export const orderingChanges = {
  pinned: z.boolean().exactOptional(),
  archived: z.boolean().exactOptional(),
  tags: tags(
    `replaces all tags of the session: at most ${defaultLimits.tags}, each ${tagRule}`,
  ).exactOptional(),
} as const;

/** The conditions that a listing and a search share. */
export const conditions = {
  title_match: z.string().optional().describe('a glob over the whole title'),
  updated_before: z.string().optional().describe('last activity strictly before this ISO 8601 time'),
  updated_after: z.string().optional().describe('last activity at or after this ISO 8601 time'),
  mode: z.string().optional().describe('the mode of the last turn'),
  tag: z.string().optional().describe('one of the tags'),
  user: z.string().optional().describe('the person to whom the session belongs'),
  pinned: z.boolean().optional().describe('true: only pinned sessions; false: only the others'),
} as const;

export const archivedInList = z
  .enum(archivedValues)
  .optional()
  .describe(
    'true: only archived sessions; any: archived sessions too; if absent, a list of active sessions leaves them out',
  );
export const archivedInSearch = z
  .enum(archivedValues)
  .optional()
  .describe('true: only archived sessions; false: only the others; any (the default): all');

const session_ids = z.array(z.string()).meta({ maxItems: defaultLimits.batchIds }).describe('1 to 1,000 ids');

export const batchRequest = z.strictObject({ session_ids });
export const pinRequest = z.strictObject({
  session_ids,
  pinned: z.boolean().describe('false unpins the sessions'),
});
export const archiveRequest = z.strictObject({
  session_ids,
  archived: z.boolean().describe('false unarchives the sessions'),
});
export const tagRequest = z.strictObject({
  session_ids,
  add: tags(`tags to add, each ${tagRule}`).optional(),
  remove: tags('tags to remove').optional(),
});

const orderedItems = <Status extends string>(done: readonly [Status, ...Status[]]) =>
  z.strictObject({
    items: z.array(
      z.strictObject({
        session_id: z.string(),
        status: z.enum([...done, 'not_found', 'too_many_tags']),
        changed: z
          .array(z.string())
          .describe('what was changed: `pinned`, `archived`, or tags; empty if nothing was'),
      }),
    ),
  });

export const pinResult = orderedItems(['pinned', 'unpinned']) satisfies z.ZodType<
  OrderedResult<'pinned' | 'unpinned'>
>;
export const archiveResult = orderedItems(['archived', 'unarchived']) satisfies z.ZodType<
  OrderedResult<'archived' | 'unarchived'>
>;
export const tagResult = orderedItems(['tagged']) satisfies z.ZodType<OrderedResult<'tagged'>>;
