// The program of the processes that the tests of this folder start: `worker COMMAND ARGUMENTS...`. It prints its result; worker-bundle.ts bundles
// it.
import { appendFileSync, writeSync } from 'node:fs';
import { CurrentSessions } from '../../src/config/current-session.ts';
import { ProfileFile } from '../../src/config/profile-file.ts';
import { putProfile } from '../../src/config/profiles.ts';
import { emptyProfile } from '../../src/config/stored-config.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { holdFileLock, withFileLock } from '../../src/system/file-lock.ts';
import { processIdentity } from '../../src/system/process-identity.ts';
import { locks } from '../support/locks.ts';
import { processTable } from '../support/process-table.ts';

const commands: Record<string, (...words: string[]) => Promise<void>> = {
  async write(directory = '', prefix = '', count = '') {
    for (let index = 0; index < Number(count); index += 1) {
      const profile = { ...emptyProfile, key: `pk_${prefix}_${index}` };
      await profileFile(directory).update((config) => putProfile(config, `${prefix}-${index}`, profile));
    }
  },

  /** Prints the outcome of an update of the given size. */
  async update(directory = '', length = '') {
    const profile = { ...emptyProfile, key: 'k'.repeat(Number(length)) };
    try {
      await profileFile(directory).update((config) => putProfile(config, 'large', profile));
      say('kept');
    } catch (error) {
      say(error instanceof ParleyError ? error.code : String(error));
    }
  },

  /** The name of this process as the owner of a lock; after its end, the name of an ended process. */
  async name() {
    say(processIdentity(processTable).name);
  },

  async hold(path = '') {
    await holdFileLock({ path, locks }, 'the thing');
    say('held');
    pause(Number.POSITIVE_INFINITY);
  },

  /** Takes the lock and releases it repeatedly, and writes both to the log. */
  async take(path = '', log = '', count = '') {
    for (let index = 0; index < Number(count); index += 1) {
      await withFileLock({ path, locks }, () => {
        appendFileSync(log, `${process.pid} takes\n`);
        pause(1);
        appendFileSync(log, `${process.pid} gives\n`);
      });
    }
  },

  async private(directory = '', mask = '') {
    process.umask(Number.parseInt(mask, 8));
    await profileFile(`${directory}/config`).update((config) => putProfile(config, 'work', emptyProfile));
    const holder = { origin: 'o', key: 'k', terminal: 't' };
    new CurrentSessions(`${directory}/data`).write(holder, { sessionId: 'ses_1', mode: null }, Date.now());
  },

  async converse(directory = '', terminal = '', count = '') {
    const holder = { origin: 'https://one.example', key: 'pk_1', terminal };
    const crossed = [];
    for (let index = 0; index < Number(count); index += 1) {
      const sessionId = `ses_${terminal}_${index}`;
      new CurrentSessions(directory).write(holder, { sessionId, mode: 'm' }, Date.now());
      const found = new CurrentSessions(directory).read(holder)?.sessionId;
      if (found !== sessionId) crossed.push(found);
      const last = new CurrentSessions(directory).read({ ...holder, terminal: null })?.sessionId;
      if (!/^ses_\w+_\d+$/.test(last ?? '')) crossed.push(last);
    }
    say(JSON.stringify(crossed));
  },
};

function profileFile(directory: string): ProfileFile {
  return new ProfileFile({ directory, locks, platform: process.platform });
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The write is synchronous, because a process that holds a lock may be killed next. */
function say(text: string): void {
  writeSync(1, `${text}\n`);
}

const [command = '', ...words] = process.argv.slice(2);
await commands[command]?.(...words);
