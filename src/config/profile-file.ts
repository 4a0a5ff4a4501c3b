// Reads and changes the configuration file. It is read as plain JSON, so that a start does not load conf. It is written by conf, under a
// lock, after a fresh read. The new file replaces the old one only after it was read back completely.
import { readdirSync, readFileSync, realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import { moveIntoPlace, replaceFile } from '../system/atomic-file.ts';
import { makePrivateDirectory } from '../system/directories.ts';
import { systemErrorCode } from '../system/file-errors.ts';
import { fileFailure, storageFull } from '../system/file-failure.ts';
import { type LoadLocks, withFileLock } from '../system/file-lock.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import { readSmallFile } from '../system/small-file.ts';
import { emptyConfig, readStoredConfig, type StoredConfig } from './stored-config.ts';

type ConfClass = typeof import('conf').default;

/** Parsed JSON takes many times the memory of its text. */
const maxBytes = 8 * 1024 * 1024;

export interface ProfileFileOptions {
  /** Created when the first change is stored. */
  readonly directory: string;
  readonly locks: LoadLocks;
  /** The value of `process.platform`. */
  readonly platform: string;
}

/** A file that other users may read or write, or a directory that all users may write to. */
export interface ExposedFile {
  readonly path: string;
  /** Its permission bits. */
  readonly mode: number;
  readonly isDirectory: boolean;
}

export class ProfileFile {
  readonly path: string;
  /** The copy of the configuration that the last update stored. */
  readonly lastGoodPath: string;
  readonly #options: ProfileFileOptions;

  constructor(options: ProfileFileOptions) {
    this.path = join(options.directory, 'config.json');
    this.lastGoodPath = `${this.path}.last-good`;
    this.#options = options;
  }

  /** Returns the empty configuration if there is no file. Throws `CONFIG` for a file that cannot be read or is damaged. */
  read(): StoredConfig {
    const text = this.#readText();
    if (text === null) return emptyConfig;
    try {
      return parse(text);
    } catch (error) {
      throw this.#damaged((error as Error).message);
    }
  }

  /**
   * The configuration file and its copy if other users may read or write them, and the directories of the configuration and of the data if
   * all users may write to them. The next update creates new files, which are private. A path that is something else is left out.
   */
  exposed(dataDirectory: string): readonly ExposedFile[] {
    // Windows has no such permission bits, and Node reports invented ones there.
    if (this.#options.platform === 'win32') return [];
    const directories = [this.#options.directory, dataDirectory];
    return [...directories, this.path, this.lastGoodPath].flatMap((path) => {
      const stat = statOf(path);
      const isDirectory = directories.includes(path);
      const isExpected = isDirectory ? stat?.isDirectory() : stat?.isFile();
      const mode = isExpected ? (stat?.mode ?? 0) & 0o777 : 0;
      return (mode & (isDirectory ? 0o002 : 0o077)) === 0 ? [] : [{ path, mode, isDirectory }];
    });
  }

  /**
   * Applies a change to the configuration that is stored now, and stores the result. Rejects with `STORE_BUSY`, `STORAGE_FULL` or `CONFIG`,
   * or with what the change throws; then the old file stays as it was. A damaged file is never overwritten.
   */
  async update(
    change: (config: StoredConfig) => StoredConfig | Promise<StoredConfig>,
  ): Promise<StoredConfig> {
    const { default: Conf } = await import('conf');
    const { locks, directory } = this.#options;
    try {
      makePrivateDirectory(directory);
      return await withFileLock({ path: join(directory, 'config.lock'), locks }, async () => {
        const before = this.read();
        const after = await change(before);
        if (after !== before) this.#replace(Conf, after);
        return after;
      });
    } catch (error) {
      const remedy = `Make ${directory} a directory that you may write to, or set PARLEY_CONFIG_DIR to another.`;
      throw fileFailure(error, this.path, 'written', remedy);
    }
  }

  /**
   * conf writes to a separate file, not to the one in use, because on a full disk it writes a part, reports success and puts the part in
   * place. (conf 15.1: atomically's `writeFileSync` calls `writeSync` once and ignores the count.)
   */
  #replace(Conf: ConfClass, config: StoredConfig): void {
    const place = this.#placeToWrite();
    const next = `${place}.next`;
    const text = `${JSON.stringify(config, null, 2)}\n`;
    if (Buffer.byteLength(text) > maxBytes) throw tooLong(this.path);
    try {
      this.#removeLeftovers(place);
      const conf = new Conf({
        cwd: dirname(place),
        configName: basename(place),
        fileExtension: 'next',
        projectSuffix: '',
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        serialize: () => text,
      });
      conf.store = { ...config };
      if (readFileSync(next, 'utf8') !== text) throw storageFull(this.path);
      moveIntoPlace(next, place, { durable: true });
    } catch (error) {
      rmSync(next, { force: true });
      throw error;
    }
    this.#keepLastGood(text);
  }

  /**
   * Removes the files that a killed process or a power cut has left. conf would read `.next` first, and a key that is removed from the
   * configuration must not stay in another file. The lock is held, so no other process uses these files.
   */
  #removeLeftovers(place: string): void {
    const next = `${basename(place)}.next`;
    for (const directory of new Set([dirname(place), this.#options.directory])) {
      for (const name of readdirSync(directory)) {
        const isPart = name.startsWith(`.${basename(this.lastGoodPath)}.`) && name.endsWith('.part');
        if (isPart || name === next || name.startsWith(`${next}.tmp-`)) rmSync(join(directory, name));
      }
    }
  }

  /** The change is already stored. If there is no space for a new copy, the old copy stays. */
  #keepLastGood(text: string): void {
    try {
      replaceFile(this.lastGoodPath, text, { durable: true });
    } catch {
      return;
    }
  }

  /** The target of the path if it is a link. The link is kept. */
  #placeToWrite(): string {
    try {
      return realpathSync(this.path);
    } catch {
      return this.path;
    }
  }

  #readText(): string | null {
    try {
      return readSmallFile(this.path, maxBytes);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return null;
      const remedy = 'Make it a file that you may read, or set PARLEY_CONFIG_DIR to another directory.';
      throw fileFailure(error, this.path, 'read', remedy);
    }
  }

  #damaged(problem: string): ParleyError {
    const path = quoteForShell(this.path);
    const hint = this.#hasLastGood()
      ? `The last good copy is ${this.lastGoodPath}. Restore it: cp ${quoteForShell(this.lastGoodPath)} ${path}`
      : `There is no good copy. Repair it, or move it away to start over: mv ${path} ${quoteForShell(`${this.path}.damaged`)}`;
    return new ParleyError('CONFIG', `The configuration ${this.path} is damaged: ${problem}.`, { hint });
  }

  #hasLastGood(): boolean {
    try {
      parse(readSmallFile(this.lastGoodPath, maxBytes));
      return true;
    } catch {
      return false;
    }
  }
}

function tooLong(path: string): ParleyError {
  return new ParleyError('CONFIG', `The configuration ${path} would be longer than ${maxBytes} bytes.`, {
    hint: 'It was not changed. Remove modes that you do not use, or shorten their system prompts.',
  });
}

function parse(text: string): StoredConfig {
  let value: unknown;
  try {
    // Some editors on Windows write a byte order mark.
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The parser's own message quotes the text, which contains keys.
    throw new TypeError('it is not JSON');
  }
  return readStoredConfig(value);
}

/** Null if the file does not exist or cannot be examined. The code that uses the file reports the reason. */
function statOf(path: string): Stats | null {
  try {
    // A missing file is common, and an error for it would cost more than the call.
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
