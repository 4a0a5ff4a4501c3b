// Runs the real program with a small preloaded library that records its operations on the files of its place, in order, and its output. Linux only;
// it needs a C compiler.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Place, program } from '../parley.ts';

export type Operation =
  | { readonly kind: 'create' | 'sync' | 'locks-lost'; readonly inode: number; readonly path: string }
  | {
      readonly kind: 'write';
      readonly inode: number;
      readonly path: string;
      readonly offset: number;
      readonly data: Buffer;
    }
  | { readonly kind: 'truncate'; readonly inode: number; readonly path: string; readonly size: number }
  | { readonly kind: 'rename' | 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink' | 'mkdir'; readonly path: string }
  | { readonly kind: 'say'; readonly stream: 'out' | 'err'; readonly text: string };

export interface Recording {
  readonly operations: readonly Operation[];
  readonly status: number | null;
}

export class Recorder {
  readonly #directory: string;
  readonly #library: string;

  /** The reason why there is no recorder. */
  static make(): Recorder | string {
    if (process.platform !== 'linux') return 'Only on Linux can a library record what a process writes.';
    const directory = mkdtempSync(join(tmpdir(), 'parley-recorder-'));
    const library = join(directory, 'recorder.so');
    const source = fileURLToPath(new URL('recorder.c', import.meta.url));
    const words = ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'];
    const { status, stderr, error } = spawnSync('cc', words, { encoding: 'utf8' });
    if (status === 0) return new Recorder(directory, library);
    rmSync(directory, { recursive: true });
    return `The recorder could not be compiled: ${error?.message ?? stderr}`;
  }

  private constructor(directory: string, library: string) {
    this.#directory = directory;
    this.#library = library;
  }

  async record(place: Place, words: readonly string[], stdin = ''): Promise<Recording> {
    const file = (name: string) => join(this.#directory, name);
    for (const name of ['record', 'out', 'err']) rmSync(file(name), { force: true });
    const [out, err] = [openSync(file('out'), 'w'), openSync(file('err'), 'w')];
    const child = spawn(process.execPath, [program, ...words], {
      cwd: place.path,
      env: {
        ...place.env,
        LD_PRELOAD: this.#library,
        UV_USE_IO_URING: '0',
        RECORD_ROOT: place.path,
        RECORD_FILE: file('record'),
      },
      stdio: ['pipe', out, err],
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
    const [status] = await once(child, 'close');
    closeSync(out);
    closeSync(err);
    return { operations: operationsIn(readFileSync(file('record'))), status };
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function operationsIn(record: Buffer): readonly Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < record.length; ) {
    const end = record.indexOf(0x0a, at);
    const [kind = '', ...numbers] = record.toString('latin1', at, end).split(' ');
    const [inode = 0, offset = 0, ...lengths] = numbers.map(Number);
    at = end + 1;
    const [path, to, data] = [0, 1, 2].map((index) => {
      const part = record.subarray(at, at + (lengths[index] ?? 0));
      at += part.length;
      return part;
    }) as [Buffer, Buffer, Buffer];
    operations.push(operationOf(kind, { inode, offset, path: `${path}`, to: `${to}`, data }));
  }
  return operations;
}

interface Fields {
  readonly inode: number;
  readonly offset: number;
  readonly path: string;
  readonly to: string;
  readonly data: Buffer;
}

function operationOf(kind: string, { inode, offset, path, to, data }: Fields): Operation {
  switch (kind) {
    case 'create':
    case 'sync':
    case 'locks-lost':
      return { kind, inode, path };
    case 'write':
      return { kind, inode, path, offset, data };
    case 'truncate':
      return { kind, inode, path, size: offset };
    case 'rename':
    case 'link':
      return { kind, path, to };
    case 'unlink':
    case 'mkdir':
      return { kind, path };
    case 'say':
      return { kind, stream: offset === 1 ? 'out' : 'err', text: data.toString() };
    default:
      throw new Error(`The recorder wrote ${JSON.stringify(kind)}.`);
  }
}
