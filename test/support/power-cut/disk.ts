// A disk after a power cut: what was synced, and what was only written. The data of a file is safe after a sync of the file, its name after a sync of
// the directory that contains the name.
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Operation } from './recording.ts';

/** How much of what was not synced is left. */
export interface Survival {
  /** Of so many changes of names in one directory, how many, from the first. */
  names(count: number): number;
  /** Whether one sector of one write, or one change of length, is left. */
  data(): boolean;
}

/** Only what was synced. */
export const strict: Survival = { names: () => 0, data: () => false };
/** Everything, in its order: what a killed process leaves. */
export const ordered: Survival = { names: (count) => count, data: () => true };
/** Every name, and no data that was not synced: a new file is empty. */
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

/** Always a copy: the synced content stays as it is. */
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

  /** All that is below `root` now counts as synced. */
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
          // SQLite's memory between processes is made anew by the first that comes.
          const content = node.content(survival, sector);
          // What a torn lock does is told by the tests of the locks.
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

  /** A file by its inode: its name may be gone. A directory may have got the inode of a file that is gone. */
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

/** Puts a state where the disk was. */
export function writeState(root: string, state: DiskState): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  for (const [path, content] of state) {
    if (content === null) mkdirSync(join(root, path), { mode: 0o700 });
    else writeFileSync(join(root, path), content, { mode: 0o600 });
  }
}
