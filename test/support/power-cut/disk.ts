// A disk after a power cut: what was synced, and what was only written. The data of a file is safe after a sync of the file, its name after a sync of
// the directory that contains the name.
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Operation } from './recording.ts';

/** How much of the unsynced data remains. */
export interface Survival {
  /** How many of the name changes in a directory remain, from the first. */
  names(count: number): number;
  /** Whether a sector of a write, or a change of length, remains. */
  data(): boolean;
}

/** Only synced data remains. */
export const strict: Survival = { names: () => 0, data: () => false };
/** Everything remains, as after a killed process. */
export const ordered: Survival = { names: (count) => count, data: () => true };
/** Every name remains, but no unsynced data: a new file is empty. */
export const namesAlone: Survival = { names: (count) => count, data: () => false };

export function randomSurvival(random: () => number): Survival {
  const share = random();
  return { names: (count) => Math.floor(random() * (count + 1)), data: () => random() < share };
}

/** Paths from the root, with their content; null for a directory. */
export type DiskState = ReadonlyMap<string, Buffer | null>;

type DataChange = { readonly offset: number; readonly data: Buffer } | { readonly size: number };
type Node = FileNode | DirectoryNode;

class FileNode {
  synced: Buffer;
  pending: DataChange[] = [];

  constructor(synced: Buffer) {
    this.synced = synced;
  }

  /** `sector` bytes reach the disk together. */
  content(survival: Survival, sector: number): Buffer {
    let content = this.synced;
    for (const change of this.pending) {
      if ('size' in change) {
        if (survival.data()) content = resized(content, change.size);
        continue;
      }
      const { offset, data } = change;
      for (let from = offset; from < offset + data.length; ) {
        const to = Math.min(offset + data.length, (Math.floor(from / sector) + 1) * sector);
        if (survival.data()) {
          content = resized(content, Math.max(content.length, to));
          data.copy(content, from, from - offset, to - offset);
        }
        from = to;
      }
    }
    return content;
  }

  sync(): void {
    this.synced = this.content(ordered, 2 ** 40);
    this.pending = [];
  }
}

/** Returns a copy, so that the synced content is not changed. */
function resized(content: Buffer, size: number): Buffer {
  const next = Buffer.alloc(size);
  content.copy(next, 0, 0, Math.min(size, content.length));
  return next;
}

type NameChange = ReadonlyMap<string, Node | null>;

class DirectoryNode {
  readonly synced = new Map<string, Node>();
  readonly names = new Map<string, Node>();
  pending: NameChange[] = [];

  change(change: NameChange): void {
    this.pending.push(change);
    apply(change, this.names);
  }

  sync(): void {
    for (const change of this.pending) apply(change, this.synced);
    this.pending = [];
  }

  left(survival: Survival): ReadonlyMap<string, Node> {
    const names = new Map(this.synced);
    for (const change of this.pending.slice(0, survival.names(this.pending.length))) apply(change, names);
    return names;
  }
}

function apply(change: NameChange, names: Map<string, Node>): void {
  for (const [name, node] of change) {
    if (node === null) names.delete(name);
    else names.set(name, node);
  }
}

export class Disk {
  readonly #root: string;
  readonly #tree = new DirectoryNode();
  readonly #inodes = new Map<number, FileNode>();

  /** Marks everything below `root` as synced. */
  constructor(root: string) {
    this.#root = root;
    this.#read(root, this.#tree);
  }

  take(operation: Operation): void {
    switch (operation.kind) {
      case 'create': {
        const node = new FileNode(Buffer.alloc(0));
        this.#inodes.set(operation.inode, node);
        this.#rename(operation.path, [[operation.path, node]]);
        break;
      }
      case 'mkdir':
        this.#rename(operation.path, [[operation.path, new DirectoryNode()]]);
        break;
      case 'unlink':
        this.#rename(operation.path, [[operation.path, null]]);
        break;
      case 'link':
        this.#rename(operation.to, [[operation.to, this.#node(operation.path)]]);
        break;
      case 'rename': {
        const { path, to } = operation;
        const node = this.#node(path);
        if (dirname(path) === dirname(to)) {
          this.#rename(to, [
            [path, null],
            [to, node],
          ]);
        } else {
          this.#rename(to, [[to, node]]);
          this.#rename(path, [[path, null]]);
        }
        break;
      }
      case 'write':
      case 'truncate':
        this.#inodes.get(operation.inode)?.pending.push(operation);
        break;
      case 'sync':
        this.#synced(operation.path, operation.inode)?.sync();
        break;
      case 'say':
      case 'locks-lost':
        break;
    }
  }

  state(survival: Survival, sector: number): DiskState {
    const state = new Map<string, Buffer | null>();
    const visit = (directory: DirectoryNode, path: string) => {
      for (const [name, node] of directory.left(survival)) {
        const place = join(path, name);
        if (node instanceof DirectoryNode) {
          state.set(place, null);
          visit(node, place);
        } else if (!name.endsWith('-shm')) {
          // The next process recreates SQLite's shared memory.
          const content = node.content(survival, sector);
          // The tests of the locks cover torn locks.
          if (!name.endsWith('.lock') || content.length > 0) state.set(place, content);
        }
      }
    };
    visit(this.#tree, '');
    return state;
  }

  #read(path: string, directory: DirectoryNode): void {
    for (const name of readdirSync(path)) {
      const place = join(path, name);
      const status = lstatSync(place);
      const node = status.isDirectory() ? new DirectoryNode() : new FileNode(readFileSync(place));
      if (node instanceof DirectoryNode) this.#read(place, node);
      else this.#inodes.set(status.ino, node);
      directory.synced.set(name, node);
      directory.names.set(name, node);
    }
  }

  #rename(path: string, change: readonly (readonly [string, Node | null])[]): void {
    const directory = this.#node(dirname(path));
    if (!(directory instanceof DirectoryNode)) throw new Error(`${path} is in no directory.`);
    directory.change(new Map(change.map(([place, node]) => [basename(place), node])));
  }

  /** Finds a file by its inode, because its name may be removed. A directory may have got the inode of a removed file. */
  #synced(path: string, inode: number): Node | undefined {
    const node = this.#find(path);
    return node instanceof DirectoryNode ? node : this.#inodes.get(inode);
  }

  #node(path: string): Node {
    const node = this.#find(path);
    if (node === undefined) throw new Error(`The recorder knows nothing of ${path}.`);
    return node;
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#tree;
    for (const name of relative(this.#root, path).split('/')) {
      if (name !== '') node = node instanceof DirectoryNode ? node.names.get(name) : undefined;
    }
    return node;
  }
}

/** Writes a state to the place of the disk. */
export function writeState(root: string, state: DiskState): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  for (const [path, content] of state) {
    if (content === null) mkdirSync(join(root, path), { mode: 0o700 });
    else writeFileSync(join(root, path), content, { mode: 0o600 });
  }
}
