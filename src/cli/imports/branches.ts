// Makes lines of messages out of a tree of messages: one for each leaf, the current one first.
import type { Branch, ForeignMessage } from './conversation.ts';
import { importLimits } from './import-limits.ts';

export interface TreeNode {
  readonly id: string;
  /** Null for a beginning. An id that is not in the tree counts as a beginning, too. */
  readonly parent: string | null;
  /** Null for a node that shows nothing. */
  readonly message: ForeignMessage | null;
}

interface Joint {
  readonly message: ForeignMessage;
  readonly parent: Joint | null;
  readonly key: string;
  readonly parentKey: string | null;
  readonly depth: number;
  /** How many messages of the line its parent branch has, too. */
  readonly shared: number;
  isLeaf: boolean;
}

/**
 * `nodes`: siblings in the order of their age. `current`: the last node of the current line; null for the line of the newest node. Nodes in
 * a circle belong to no line.
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
  // The nearest shown message at or above each node.
  const joints = new Map<string, Joint | null>();
  const shown: Joint[] = [];
  const hasChild = new Set<Joint | null>();
  const waiting = (children.get(null) ?? []).toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const above = (node.parent !== null && joints.get(node.parent)) || null;
    if (node.message === null) joints.set(node.id, above);
    else {
      const isFirst = !hasChild.has(above);
      hasChild.add(above);
      const key = isFirst ? (above?.key ?? '') : node.id;
      const parentKey = isFirst ? (above?.parentKey ?? null) : (above?.key ?? '');
      const depth = (above?.depth ?? 0) + 1;
      const shared = isFirst ? (above?.shared ?? 0) : depth - 1;
      const joint: Joint = {
        ...{ message: node.message, parent: above, key, parentKey, depth, shared },
        isLeaf: true,
      };
      if (above !== null) above.isLeaf = false;
      joints.set(node.id, joint);
      shown.push(joint);
    }
    for (const child of (children.get(node.id) ?? []).toReversed()) waiting.push(child);
  }
  const leaves = shown.filter(({ isLeaf }) => isLeaf);
  const wanted = current === null ? newest(leaves) : (joints.get(current) ?? newest(leaves));
  const first = leafBelow(wanted, leaves);
  return linesOf(first === null ? [] : [first, ...leaves.filter((leaf) => leaf !== first)]);
}

function newest(leaves: readonly Joint[]): Joint | null {
  let best: Joint | null = null;
  for (const leaf of leaves)
    if (best === null || (leaf.message.time ?? 0) >= (best.message.time ?? 0)) best = leaf;
  return best;
}

/** The leaf that continues a joint: the joint itself in most cases. */
function leafBelow(joint: Joint | null, leaves: readonly Joint[]): Joint | null {
  if (joint === null || joint.isLeaf) return joint;
  return leaves.find((leaf) => leaf.key === joint.key) ?? leaves[0] ?? null;
}

function* linesOf(leaves: readonly Joint[]): Generator<Branch> {
  for (const leaf of leaves.slice(0, importLimits.branches)) {
    const messages = new Array<ForeignMessage>(leaf.depth);
    for (let joint: Joint | null = leaf; joint !== null; joint = joint.parent)
      messages[joint.depth - 1] = joint.message;
    yield { key: leaf.key, parent: leaf.parentKey, shared: leaf.shared, messages };
  }
}
