// Opens the rules of schemas. Their code is loaded only for a chat with a schema.
import type { CliContext } from '../context.ts';
import type { LineSchemas } from './line-schemas.ts';
import type { ReplyRule } from './reply-rule.ts';

/** How often a model is asked again for a reply that matches the schema. */
export const defaultRepairs = 1;

/** Null without a schema. Throws `USAGE` for a file that cannot be read, or whose schema cannot be checked completely. */
export async function openRule(
  { schema, repair = defaultRepairs }: { readonly schema?: string; readonly repair?: number },
  context: CliContext,
): Promise<ReplyRule | null> {
  if (schema === undefined) return null;
  const { ReplyRule } = await import('./reply-rule.ts');
  return ReplyRule.ofFile(schema, repair, context);
}

/** Opens the schemas in the lines of a batch. */
export async function openLineSchemas(repairs: number, signal: AbortSignal): Promise<LineSchemas> {
  const { LineSchemas } = await import('./line-schemas.ts');
  return new LineSchemas(repairs, signal);
}
