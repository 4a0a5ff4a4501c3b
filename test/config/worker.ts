// The program of the processes that the tests of this folder start: `worker COMMAND ARGUMENTS...`. What it finds goes to
// stdout; it is bundled by worker-bundle.ts.
import { closeSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { readCurrentSession, writeCurrentSession } from '../../src/config/current-session.ts';
import { withFileLock } from '../../src/config/file-lock.ts';
import { lockOwner } from '../../src/config/lock-owner.ts';
import { ProfileFile } from '../../src/config/profile-file.ts';
import { putProfile } from '../../src/config/profiles.ts';
import { emptyProfile } from '../../src/config/stored-config.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { processTable } from './process-table.ts';

const commands: Record<string, (...words: string[]) => Promise<void>> = {
  async write(directory = '', prefix = '', count = '') {
    for (let index = 0; index < Number(count); index += 1) {
      const profile = { ...emptyProfile, key: `pk_${prefix}_${index}` };
      await profileFile(directory).update((config) => putProfile(config, `${prefix}-${index}`, profile));
    }
  },

  /** Says what became of an update of the given size. */
  async update(directory = '', length = '') {
    const profile = { ...emptyProfile, key: 'k'.repeat(Number(length)) };
    try {
      await profileFile(directory).update((config) => putProfile(config, 'large', profile));
      say('kept');
    } catch (error) {
      say(error instanceof ParleyError ? error.code : String(error));
    }
  },

  /** Its own name as the owner of a lock; when it has ended, the name of a process that is gone. */
  async name() {
    say(lockOwner(processTable).name);
  },

  async hold(path = '') {
    await withFileLock({ path, owner: lockOwner(processTable), now: Date.now }, () => {
      say('held');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });
  },

  /** Takes the lock and gives it back, until it is ended. */
  async take(path = '') {
    const lock = { path, owner: lockOwner(processTable), now: Date.now };
    say('begins');
    for (;;) await withFileLock(lock, () => {});
  },

  /** Takes the lock and leaves it behind as if it had died with it, again and again. */
  async abandon(path = '', marker = '', gone = '', count = '') {
    const lock = { path, owner: lockOwner(processTable), now: Date.now };
    for (let index = 0; index < Number(count); index += 1) {
      await withFileLock(lock, () => {
        closeSync(openSync(marker, 'wx'));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
        unlinkSync(marker);
        if (readFileSync(path, 'utf8') !== lock.owner.name) throw new Error("the lock is another process's");
        writeFileSync(path, gone);
      });
    }
    say('never met another');
  },

  async private(directory = '', mask = '') {
    process.umask(Number.parseInt(mask, 8));
    await profileFile(`${directory}/config`).update((config) => putProfile(config, 'work', emptyProfile));
    const conversant = { origin: 'o', key: 'k', terminal: 't' };
    writeCurrentSession(`${directory}/data`, conversant, 'ses_1', Date.now());
  },

  async converse(directory = '', terminal = '', count = '') {
    const conversant = { origin: 'https://one.example', key: 'pk_1', terminal };
    const crossed = [];
    for (let index = 0; index < Number(count); index += 1) {
      const sessionId = `ses_${terminal}_${index}`;
      writeCurrentSession(directory, conversant, sessionId, Date.now());
      const found = readCurrentSession(directory, conversant);
      if (found !== sessionId) crossed.push(found);
      const last = readCurrentSession(directory, { ...conversant, terminal: null });
      if (!/^ses_\w+_\d+$/.test(last ?? '')) crossed.push(last);
    }
    say(JSON.stringify(crossed));
  },
};

function profileFile(directory: string): ProfileFile {
  return new ProfileFile({ directory, processes: processTable, platform: process.platform, now: Date.now });
}

/** At once: a process that holds a lock may be killed next. */
function say(text: string): void {
  writeSync(1, `${text}\n`);
}

const [command = '', ...words] = process.argv.slice(2);
await commands[command]?.(...words);
