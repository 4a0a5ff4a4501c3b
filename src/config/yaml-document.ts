// Reads YAML, which includes JSON, and tells the line of a field in it.

export interface YamlDocument {
  /** The first error of the parser; null for valid YAML. Lines are counted from 1. */
  readonly error: { readonly line: number; readonly code: string; readonly message: string } | null;
  /** Throws a `RangeError` for values that are nested too deeply, and another error for too many aliases. */
  value(): unknown;
  /** The line of the field, or of the nearest field around it that exists. An empty path is that of the whole value. */
  lineOf(fieldPath: readonly string[]): number;
}

/** Aliases of aliases can grow without bounds, so their number is limited. */
const maxAliasCount = 100;

export async function parseYaml(text: string): Promise<YamlDocument> {
  const { isNode, LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const [error] = document.errors;
  return {
    error:
      error === undefined ? null : { line: lineAt(error.pos[0]), code: error.code, message: error.message },
    value: () => document.toJS({ maxAliasCount }),
    lineOf(fieldPath) {
      for (let length = fieldPath.length; length >= 0; length -= 1) {
        const node = document.getIn(fieldPath.slice(0, length), true);
        if (isNode(node) && node.range) return lineAt(node.range[0]);
      }
      return 1;
    },
  };
}
