// The thread that reads a large export. It sends what the file holds, several items at a time. scripts/build.js makes a file of its own of it.
import { parentPort, workerData } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { bulkSources } from './bulk-sources.ts';
import { foreignItems } from './foreign-items.ts';
import type { ImportItem } from './import-item.ts';
import { MessageQueue } from './message-queue.ts';
import type { FilePlace, SourceFile, SourceName } from './source.ts';
import { filesAt } from './source-files.ts';

export interface ReadingOrder {
  readonly source: SourceName;
  readonly place: FilePlace;
  readonly isNamed: boolean;
  readonly messagesOnly: boolean;
  readonly now: number;
  /** How many bytes were read before this file. */
  readonly before: number;
}

/** The reader answers each message with items by an empty one. `end` and `failed` are the last message. */
export type FromReader =
  | { readonly kind: 'items'; readonly items: readonly SentItem[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly failure: SentFailure };

/** A failure as plain data, because a thread sends an error without its fields. */
export type SentFailure = Pick<ParleyError, 'code' | 'message' | 'hint' | 'remedy' | 'details'>;
export type SentItem = Omit<ImportItem, 'found'> & {
  readonly found: Exclude<ImportItem['found'], { failure: unknown }> | { readonly failure: SentFailure };
};

/** What is sent at a time: the most items, and about how many characters of texts. More at a time takes more memory, and is no faster. */
const most = { items: 24, characters: 64 * 1024 };
/**
 * How many characters may wait to be taken before this thread reads on: about as many as the main thread stores in one transaction, so that
 * both work at the same time. A message counts as a full one at least.
 */
const mostUntaken = 5 * most.characters;

async function read(order: ReadingOrder): Promise<void> {
  const sender = new ItemSender();
  let end: FromReader = { kind: 'end' };
  try {
    for await (const item of itemsOf(order)) await sender.add(item);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    end = { kind: 'failed', failure: sentFailure(error) };
  }
  await sender.flush();
  send(end);
}

async function* itemsOf(order: ReadingOrder): AsyncGenerator<ImportItem, void> {
  const { path, number } = order.place;
  let at = 0;
  for await (const found of filesAt(path)) {
    // An archive is open until its files are passed.
    if (at === number && 'file' in found) return yield* itemsIn(found.file, order);
    at += 1;
  }
  throw new ParleyError('USAGE', `${path} has changed while it was read.`, {
    hint: 'Give the same command again: what is there stays.',
  });
}

async function* itemsIn(
  file: SourceFile,
  { source: name, isNamed, messagesOnly, now, before }: ReadingOrder,
): AsyncGenerator<ImportItem, void> {
  const source = bulkSources.find((one) => one.name === name);
  if (source === undefined) throw new TypeError(`The source ${name} is not read here.`);
  const counter = { bytes: before };
  const { signal } = new AbortController();
  async function* open(): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of file.open(signal)) {
      counter.bytes += chunk.length;
      yield chunk;
    }
  }
  const options = { signal, messagesOnly, now, temporaryDirectory: unneeded, openDatabase: unneeded };
  yield* foreignItems(source, { ...file, open }, isNamed, counter, options);
}

class ItemSender {
  readonly #taken = new MessageQueue<unknown>();
  #items: SentItem[] = [];
  #characters = 0;
  /** What each message counts that is not taken yet. */
  readonly #untaken: number[] = [];

  constructor() {
    parentPort?.on('message', (message) => this.#taken.add(message));
  }

  async add(item: ImportItem): Promise<void> {
    const { found, ...at } = item;
    this.#items.push({ ...at, found: 'failure' in found ? { failure: sentFailure(found.failure) } : found });
    if ('session' in found)
      for (const { content } of found.session.record.messages) this.#characters += content.length;
    if (this.#items.length === most.items || this.#characters >= most.characters) await this.flush();
  }

  async flush(): Promise<void> {
    send({ kind: 'items', items: this.#items });
    this.#untaken.push(Math.max(this.#characters, most.characters));
    this.#items = [];
    this.#characters = 0;
    while (sumOf(this.#untaken) >= mostUntaken) {
      await this.#taken.next();
      this.#untaken.shift();
    }
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function sentFailure({ code, message, hint, remedy, details }: ParleyError): SentFailure {
  return { code, message, hint, remedy, details };
}

function send(message: FromReader): void {
  parentPort?.postMessage(message);
}

function unneeded(): never {
  throw new TypeError('A source that is read here needs no database.');
}

void read(workerData as ReadingOrder);
