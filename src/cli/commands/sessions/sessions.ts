// `parley sessions …`: the group.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerArchive } from './archive.ts';
import { registerBatches } from './batches.ts';
import { registerCreate } from './create.ts';
import { registerDelete } from './delete.ts';
import { registerExport } from './export.ts';
import { registerFork } from './fork.ts';
import { registerGet } from './get.ts';
import { registerImport } from './import.ts';
import { registerList } from './list.ts';
import { registerMessages, registerShow } from './messages.ts';
import { registerPin } from './pin.ts';
import { registerPurge } from './purge.ts';
import { registerRedact } from './redact.ts';
import { registerRedo } from './redo.ts';
import { registerRename } from './rename.ts';
import { registerRestore } from './restore.ts';
import { registerSearch } from './search.ts';
import { registerTag } from './tag.ts';
import { registerUnarchive } from './unarchive.ts';
import { registerUndo } from './undo.ts';
import { registerUnpin } from './unpin.ts';

export function registerSessions(parent: Command, run: Run): void {
  const sessions = parent
    .command('sessions')
    .description('create, read, list, search, order, delete and export sessions');
  registerCreate(sessions, run);
  registerGet(sessions, run);
  registerList(sessions, run);
  registerSearch(sessions, run);
  registerMessages(sessions, run);
  registerShow(sessions, run);
  registerRename(sessions, run);
  registerFork(sessions, run);
  registerUndo(sessions, run);
  registerRedo(sessions, run);
  registerDelete(sessions, run);
  registerRestore(sessions, run);
  registerPin(sessions, run);
  registerUnpin(sessions, run);
  registerArchive(sessions, run);
  registerUnarchive(sessions, run);
  registerTag(sessions, run);
  registerBatches(sessions, run);
  registerPurge(sessions, run);
  registerRedact(sessions, run);
  registerExport(sessions, run);
  registerImport(sessions, run);
}
