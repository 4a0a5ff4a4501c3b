// A source file as the architecture rules see it: its imports, and its uses of globals.
import { parseAst } from 'rolldown/parseAst';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** The import specifiers, static and dynamic, of values and of types. */
  readonly imports: readonly string[];
  /** `process` or `console`, wherever it is named as a value. */
  readonly globals: readonly string[];
  /** Texts of string literals and of templates, without comments. */
  readonly texts: readonly string[];
  /** Names of exported interfaces, type aliases and classes. */
  readonly exportedTypes: readonly string[];
  readonly hasDefaultExport: boolean;
  readonly hasMutableState: boolean;
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

export function readSource(path: string, text: string): SourceFile {
  const program = parseAst(text, { lang: 'ts', sourceType: 'module' }, path) as unknown as Node;
  const imports: string[] = [];
  const globals: string[] = [];
  const texts: string[] = [];
  let hasDefaultExport = false;
  for (const node of nodesOf(program)) {
    if (isNode(node['source'])) imports.push(String(node['source']['value'] ?? 'a computed name'));
    if (node.type === 'Literal' && typeof node['value'] === 'string') texts.push(node['value']);
    if (node.type === 'TemplateElement') texts.push((node['value'] as { raw: string }).raw);
    if (node.type === 'ExportDefaultDeclaration') hasDefaultExport = true;
    if (node.type === 'Identifier' && (node['name'] === 'process' || node['name'] === 'console')) {
      globals.push(node['name']);
    }
  }
  const body = program['body'] as readonly Node[];
  const hasMutableState = body
    .map((node) => (isNode(node['declaration']) ? node['declaration'] : node))
    .some((node) => node.type === 'VariableDeclaration' && node['kind'] !== 'const');
  const exportedTypes = body.flatMap(exportedType);
  return { path, text, imports, globals, texts, exportedTypes, hasDefaultExport, hasMutableState };
}

const typeDeclarations = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration'];

function exportedType({ type, declaration }: Node): readonly string[] {
  if (type !== 'ExportNamedDeclaration' || !isNode(declaration)) return [];
  const { type: kind, id } = declaration;
  return typeDeclarations.includes(kind) && isNode(id) ? [String(id['name'])] : [];
}

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const [field, value] of Object.entries(node)) {
    if (isName(node, field)) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesOf(child);
  }
}

/** The `b` of `a.b` and of `{ b: … }` names a member, not a value. */
function isName(node: Node, field: string): boolean {
  return (field === 'property' || field === 'key') && node['computed'] === false;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
