// The locks between processes, as the program has them.
import { lockFiles } from '../../src/store/sqlite/lock-file.ts';

export const locks = async () => lockFiles(Number(process.versions['napi']));
