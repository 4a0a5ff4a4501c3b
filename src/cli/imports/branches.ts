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
  const { shown, shownAt } = shownNodesOf(childrenOf(nodes));
  const leaves = shown.filter(({ isLeaf }) => isLeaf);
  const last = current === null ? newest(leaves) : (shownAt.get(current) ?? newest(leaves));
  const first = leafBelow(last, leaves);
  return branchesTo(first === null ? [] : [first, ...leaves.filter((leaf) => leaf !== first)]);
}

/** The nodes below each node; those below null are the roots. */
function childrenOf(nodes: readonly TreeNode[]): ReadonlyMap<string | null, readonly TreeNode[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const children = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    if (byId.get(node.id) !== node) continue;
    const parent = node.parent !== null && byId.has(node.parent) ? node.parent : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [node]);
    else siblings.push(node);
  }
  return children;
}

interface ShownNodes {
  readonly shown: readonly ShownNode[];
  /** For each node, the nearest node with a visible message: itself or an ancestor. */
  readonly shownAt: ReadonlyMap<string, ShownNode | null>;
}

/** Visits the nodes depth-first, without recursion, because a tree may be deep. */
function shownNodesOf(children: ReadonlyMap<string | null, readonly TreeNode[]>): ShownNodes {
  const shownAt = new Map<string, ShownNode | null>();
  const shown: ShownNode[] = [];
  const waiting = (children.get(null) ?? []).toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const above = (node.parent !== null && shownAt.get(node.parent)) || null;
    if (node.message === null) shownAt.set(node.id, above);
    else {
      const depth = (above?.depth ?? 0) + 1;
      // The first child continues the branch of its parent. Any other one begins a branch.
      const continues = above === null ? shown.length === 0 : above.isLeaf;
      const shownNode: ShownNode = {
        message: node.message,
        parent: above,
        key: continues ? (above?.key ?? '') : node.id,
        parentKey: continues ? (above?.parentKey ?? null) : (above?.key ?? ''),
        depth,
        shared: continues ? (above?.shared ?? 0) : depth - 1,
        isLeaf: true,
      };
      if (above !== null) above.isLeaf = false;
      shownAt.set(node.id, shownNode);
      shown.push(shownNode);
    }
    for (const child of (children.get(node.id) ?? []).toReversed()) waiting.push(child);
  }
  return { shown, shownAt };
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

function* branchesTo(leaves: readonly ShownNode[]): Generator<Branch> {
  for (const leaf of leaves.slice(0, importLimits.branches)) {
    const messages = new Array<ForeignMessage>(leaf.depth);
    for (let node: ShownNode | null = leaf; node !== null; node = node.parent)
      messages[node.depth - 1] = node.message;
    yield { key: leaf.key, parent: leaf.parentKey, shared: leaf.shared, messages };
  }
}
