// The thread that reads a large export. It sends the items of the file in groups. scripts/build.js bundles it into its own file.
import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { bulkSources } from './bulk-sources.ts';
import { countedBytes, foreignItems } from './foreign-items.ts';
import type { ImportItem } from './import-item.ts';
import type { FilePlace, SourceFile, SourceName } from './source.ts';
import { filesAt } from './source-files.ts';

export interface ReadingTask {
  readonly source: SourceName;
  readonly place: FilePlace;
  readonly isNamed: boolean;
  readonly messagesOnly: boolean;
  readonly now: number;
  /** How many bytes were read before this file. */
  readonly bytesBefore: number;
}

/** The main thread acknowledges each `items` message. The last message is `end` or `failed`. */
export type ReaderMessage =
  | { readonly kind: 'items'; readonly items: readonly TransferredItem[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly failure: TransferredFailure };

/** A failure as plain data, because structured cloning drops the fields of an error. */
export type TransferredFailure = Pick<ParleyError, 'code' | 'message' | 'hint' | 'remedy' | 'details'>;
export type TransferredItem = Omit<ImportItem, 'found'> & {
  readonly found:
    | Exclude<ImportItem['found'], { failure: unknown }>
    | { readonly failure: TransferredFailure };
};

/** The most items of a message, and about how many characters. Larger messages need more memory and are not faster. */
const maxPerMessage = { items: 24, characters: 64 * 1024 };
/**
 * The most unacknowledged characters. It is about what the main thread stores in one transaction, so that both threads work at the same time.
 * A message counts as at least a full one.
 */
const maxUnacknowledged = 5 * maxPerMessage.characters;

async function read(task: ReadingTask): Promise<void> {
  const sender = new ItemSender();
  let end: ReaderMessage = { kind: 'end' };
  try {
    for await (const item of itemsOf(task)) await sender.add(item);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    end = { kind: 'failed', failure: transferredFailure(error) };
  }
  await sender.flush();
  send(end);
}

async function* itemsOf(task: ReadingTask): AsyncGenerator<ImportItem, void> {
  const { path, number } = task.place;
  let at = 0;
  for await (const found of filesAt(path)) {
    // An archive stays open while its files are iterated.
    if (at === number && 'file' in found) return yield* itemsIn(found.file, task);
    at += 1;
  }
  throw new ParleyError('USAGE', `${path} changed while it was read.`, {
    hint: 'Run the same command again: imported sessions stay as they are.',
  });
}

async function* itemsIn(
  file: SourceFile,
  { source: name, isNamed, messagesOnly, now, bytesBefore }: ReadingTask,
): AsyncGenerator<ImportItem, void> {
  const source = bulkSources.find((one) => one.name === name);
  if (source === undefined) throw new TypeError(`The source ${name} cannot be read in a thread.`);
  const counter = { bytes: bytesBefore };
  const { signal } = new AbortController();
  const open = () => countedBytes(file.open(signal), counter);
  const options = { signal, messagesOnly, now, temporaryDirectory: notNeeded, openDatabase: notNeeded };
  yield* foreignItems(source, { file: { ...file, open }, isNamed }, counter, options);
}

class ItemSender {
  readonly #acknowledgements = parentPort && on(parentPort, 'message');
  #items: TransferredItem[] = [];
  #characters = 0;
  /** The characters of each unacknowledged message. */
  readonly #unacknowledged: number[] = [];

  async add(item: ImportItem): Promise<void> {
    const { found, ...at } = item;
    this.#items.push({
      ...at,
      found: 'failure' in found ? { failure: transferredFailure(found.failure) } : found,
    });
    if ('session' in found)
      for (const { content } of found.session.record.messages) this.#characters += content.length;
    const isFull = this.#items.length === maxPerMessage.items || this.#characters >= maxPerMessage.characters;
    if (isFull) await this.flush();
  }

  async flush(): Promise<void> {
    send({ kind: 'items', items: this.#items });
    this.#unacknowledged.push(Math.max(this.#characters, maxPerMessage.characters));
    this.#items = [];
    this.#characters = 0;
    while (sumOf(this.#unacknowledged) >= maxUnacknowledged) {
      await this.#acknowledgements?.next();
      this.#unacknowledged.shift();
    }
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function transferredFailure({ code, message, hint, remedy, details }: ParleyError): TransferredFailure {
  return { code, message, hint, remedy, details };
}

function send(message: ReaderMessage): void {
  parentPort?.postMessage(message);
}

function notNeeded(): never {
  throw new TypeError('A source that is read in a thread needs no database.');
}

void read(workerData as ReadingTask);
