// `parley sessions …`: the group of commands on sessions.
import { commandGroup } from '../../command-group.ts';
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

export const registerSessions = commandGroup({
  name: 'sessions',
  description: 'create, read, list, search, organise, delete, import and export sessions',
  commands: {
    create: registerCreate,
    get: registerGet,
    list: registerList,
    search: registerSearch,
    messages: registerMessages,
    show: registerShow,
    rename: registerRename,
    fork: registerFork,
    undo: registerUndo,
    redo: registerRedo,
    delete: registerDelete,
    restore: registerRestore,
    pin: registerPin,
    unpin: registerUnpin,
    archive: registerArchive,
    unarchive: registerUnarchive,
    tag: registerTag,
    batches: registerBatches,
    purge: registerPurge,
    redact: registerRedact,
    export: registerExport,
    import: registerImport,
  },
});
