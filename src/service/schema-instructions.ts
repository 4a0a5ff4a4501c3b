// The words that ask a model for JSON by a schema, where its server takes no schema.

/** `schema`: the text of a JSON Schema. Equal schemas give equal words. */
export function schemaInstructions(schema: string): string {
  return (
    'Reply with one JSON value alone, without any text or code fence around it. ' +
    `The value must match this JSON Schema:\n\n${schema}`
  );
}
