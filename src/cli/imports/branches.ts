// Turns a tree of messages into branches: one for each leaf, the current one first.
import type { Branch, ForeignMessage } from './conversation.ts';
import { importLimits } from './import-limits.ts';

export interface TreeNode {
  readonly id: string;
  /** Null for a root. A node whose parent is not in the tree counts as a root, too. */
  readonly parent: string | null;
  /** Null for a node without a visible message. */
  readonly message: ForeignMessage | null;
}

interface ShownNode {
  readonly message: ForeignMessage;
  readonly parent: ShownNode | null;
  readonly key: string;
  readonly parentKey: string | null;
  readonly depth: number;
  /** How many messages the branch shares with its parent branch. */
  readonly shared: number;
  isLeaf: boolean;
}

/**
 * `nodes` has siblings in the order of their age. `current` is the last node of the current branch; null for the branch of the newest node. Nodes
 * in a cycle belong to no branch.
 */
export function branchesOf(nodes: readonly TreeNode[], current: string | null): Iterable<Branch> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const children = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    if (byId.get(node.id) !== node) continue;
    const parent = node.parent !== null && byId.has(node.parent) ? node.parent : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [node]);
    else siblings.push(node);
  }
  // For each node, the nearest node with a visible message: itself or an ancestor.
  const shownAt = new Map<string, ShownNode | null>();
  const shown: ShownNode[] = [];
  const hasChild = new Set<ShownNode | null>();
  const waiting = (children.get(null) ?? []).toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const above = (node.parent !== null && shownAt.get(node.parent)) || null;
    if (node.message === null) shownAt.set(node.id, above);
    else {
      const isFirst = !hasChild.has(above);
      hasChild.add(above);
      const key = isFirst ? (above?.key ?? '') : node.id;
      const parentKey = isFirst ? (above?.parentKey ?? null) : (above?.key ?? '');
      const depth = (above?.depth ?? 0) + 1;
      const shared = isFirst ? (above?.shared ?? 0) : depth - 1;
      const shownNode: ShownNode = {
        message: node.message,
        parent: above,
        key,
        parentKey,
        depth,
        shared,
        isLeaf: true,
      };
      if (above !== null) above.isLeaf = false;
      shownAt.set(node.id, shownNode);
      shown.push(shownNode);
    }
    for (const child of (children.get(node.id) ?? []).toReversed()) waiting.push(child);
  }
  const leaves = shown.filter(({ isLeaf }) => isLeaf);
  const wanted = current === null ? newest(leaves) : (shownAt.get(current) ?? newest(leaves));
  const first = leafBelow(wanted, leaves);
  return linesOf(first === null ? [] : [first, ...leaves.filter((leaf) => leaf !== first)]);
}

function newest(leaves: readonly ShownNode[]): ShownNode | null {
  let best: ShownNode | null = null;
  for (const leaf of leaves)
    if (best === null || (leaf.message.time ?? 0) >= (best.message.time ?? 0)) best = leaf;
  return best;
}

/** The leaf that continues a node: the node itself in most cases. */
function leafBelow(node: ShownNode | null, leaves: readonly ShownNode[]): ShownNode | null {
  if (node === null || node.isLeaf) return node;
  return leaves.find((leaf) => leaf.key === node.key) ?? leaves[0] ?? null;
}

function* linesOf(leaves: readonly ShownNode[]): Generator<Branch> {
  for (const leaf of leaves.slice(0, importLimits.branches)) {
    const messages = new Array<ForeignMessage>(leaf.depth);
    for (let node: ShownNode | null = leaf; node !== null; node = node.parent)
      messages[node.depth - 1] = node.message;
    yield { key: leaf.key, parent: leaf.parentKey, shared: leaf.shared, messages };
  }
}
