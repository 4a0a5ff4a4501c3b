// A process that opens the store in each given directory, creates a key and a session there, and reports the outcome.
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { storeOptions } from './store-options.ts';

export interface Opened {
  readonly created: boolean;
  readonly error: string | null;
}

process.on('message', (directory: string) => {
  openAndWrite(directory).then(
    (created) => answer({ created, error: null }),
    (error: unknown) => answer({ created: false, error: String(error) }),
  );
});

function answer(opened: Opened): void {
  process.send?.(opened);
}

async function openAndWrite(directory: string): Promise<boolean> {
  const { store, created } = await openSqliteStore(storeOptions(directory));
  const unique = String(process.pid);
  const hash = new Uint8Array(32).fill(1);
  new DataView(hash.buffer).setUint32(0, process.pid);
  const { project_id } = await store.createKey({
    ...{ key_id: `key_${unique}`, key_name: 'n', hash, project_id: `prj_${unique}`, project_name: 'default' },
    now: Date.now(),
  });
  await store.createSession(project_id, { session_id: `ses_${unique}`, title: null, now: Date.now() }, null);
  await store.close();
  return created;
}
