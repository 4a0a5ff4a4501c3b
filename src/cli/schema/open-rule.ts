// Opens the rules of schemas. Their code is loaded for a chat with a schema alone.
import type { CliContext } from '../context.ts';
import type { LineSchemas } from './line-schemas.ts';
import type { ReplyRule } from './reply-rule.ts';

/** Null without a schema. Throws `USAGE` for a file that cannot be read, or whose schema cannot be checked whole. */
export async function openRule(
  { schema, repairs }: { readonly schema: string | null; readonly repairs: number },
  context: CliContext,
): Promise<ReplyRule | null> {
  if (schema === null) return null;
  const { ReplyRule: Rule } = await import('./reply-rule.ts');
  return Rule.ofFile(schema, repairs, context);
}

/** The rules of the schemas that lines of a batch name. */
export async function openLineSchemas(repairs: number, signal: AbortSignal): Promise<LineSchemas> {
  const { LineSchemas: Schemas } = await import('./line-schemas.ts');
  return new Schemas(repairs, signal);
}
