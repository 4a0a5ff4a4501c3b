// Reads the name of a store from an option: the address of a store in PostgreSQL, or the directory of a store in SQLite.
import { basename, dirname, resolve } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import { realDirectory } from './paths.ts';
import { type AddressOptions, readStoreAddress, type StoreAddress } from './store-address.ts';

export interface NamedStore {
  /** Null for a store in SQLite. */
  readonly address: StoreAddress | null;
  /** The real path of the directory of a store in SQLite; empty for one in PostgreSQL. */
  readonly directory: string;
  /** A name without user and password. It is the same for every text that names this store. */
  readonly name: string;
}

export function readNamedStore(text: string, options: AddressOptions): NamedStore {
  if (/^postgres(ql)?:/i.test(text)) {
    const address = readStoreAddress(text, options);
    return { address, directory: '', name: address.name };
  }
  if (text === '' || /^[a-z][a-z0-9+.-]+:\/\//i.test(text)) {
    throw new ParleyError(
      'USAGE',
      `The store of ${options.source} is neither a directory nor a PostgreSQL address.`,
      {
        hint: 'Name the data directory of a store, or postgres://USER@HOST/DATABASE.',
      },
    );
  }
  const path = resolve(text);
  // The path of the database file stands for its directory.
  const directory = realDirectory(basename(path) === 'parley.db' ? dirname(path) : path);
  return { address: null, directory, name: directory };
}
