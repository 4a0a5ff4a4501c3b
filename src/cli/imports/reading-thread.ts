// The thread that reads a large export. It receives the bytes of the file and sends what the file holds, several items at a time.
// scripts/build.js makes a file of its own of it.
import { parentPort, workerData } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { bulkSources } from './bulk-sources.ts';
import { foreignItems } from './foreign-items.ts';
import type { ImportItem } from './import-item.ts';
import { MessageQueue } from './message-queue.ts';
import type { SourceName } from './source.ts';

export interface ReadingOrder {
  readonly source: SourceName;
  readonly path: string;
  readonly modified: number | null;
  readonly isNamed: boolean;
  readonly messagesOnly: boolean;
  readonly now: number;
  /** How many bytes were read before this file. */
  readonly before: number;
}

/** `next`: the last items were taken. `broken`: the file cannot be read further. */
export type ToReader =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' | 'broken' | 'next' };

export type FromReader =
  /** Some bytes were taken. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'items'; readonly items: readonly SentItem[] }
  /** The last message. `failure` null: the file could not be read further. */
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly failure: SentFailure | null };

/** A failure as plain data, because a thread sends an error without its fields. */
export type SentFailure = Pick<ParleyError, 'code' | 'message' | 'hint' | 'remedy' | 'details'>;
export type SentItem = Omit<ImportItem, 'found'> & {
  readonly found: Exclude<ImportItem['found'], { failure: unknown }> | { readonly failure: SentFailure };
};

/** What is sent at a time: the most items, and the most characters of their texts. */
const most = { items: 48, characters: 256 * 1024 };
/** Messages with items that are not taken yet. */
const mostUntaken = 2;

const received = new MessageQueue<Uint8Array | 'end' | 'broken'>();
const taken = new MessageQueue<'next'>();
const cut = new Error('The file cannot be read further.');
const counter = { bytes: 0 };

parentPort?.on('message', (message: ToReader) => {
  if (message.kind === 'bytes') received.add(message.bytes);
  else if (message.kind === 'next') taken.add(message.kind);
  else received.add(message.kind);
});

async function read(order: ReadingOrder): Promise<void> {
  const { isNamed, before, messagesOnly, now, path, modified } = order;
  const source = bulkSources.find(({ name }) => name === order.source);
  if (source === undefined) throw new TypeError(`The source ${order.source} is not read here.`);
  counter.bytes = before;
  const { signal } = new AbortController();
  const options = { signal, messagesOnly, now, temporaryDirectory: unneeded, openDatabase: unneeded };
  const file = { path, modified, bytes: 0, local: null, open: receivedBytes };
  const sender = new ItemSender();
  let end: FromReader = { kind: 'end' };
  try {
    for await (const item of foreignItems(source, file, isNamed, counter, options)) await sender.add(item);
  } catch (error) {
    if (error === cut) end = { kind: 'failed', failure: null };
    else if (error instanceof ParleyError) end = { kind: 'failed', failure: sentFailure(error) };
    else throw error;
  }
  await sender.flush();
  send(end);
}

async function* receivedBytes(): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const next = await received.next();
    if (next === 'end') return;
    if (next === 'broken') throw cut;
    counter.bytes += next.length;
    send({ kind: 'taken' });
    yield Buffer.from(next.buffer, next.byteOffset, next.length);
  }
}

class ItemSender {
  #items: SentItem[] = [];
  #characters = 0;
  #untaken = 0;

  async add(item: ImportItem): Promise<void> {
    const { found, ...at } = item;
    this.#items.push({ ...at, found: 'failure' in found ? { failure: sentFailure(found.failure) } : found });
    if ('session' in found)
      for (const { content } of found.session.record.messages) this.#characters += content.length;
    if (this.#items.length === most.items || this.#characters >= most.characters) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#untaken === mostUntaken) {
      await taken.next();
      this.#untaken -= 1;
    }
    send({ kind: 'items', items: this.#items });
    this.#untaken += 1;
    this.#items = [];
    this.#characters = 0;
  }
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
