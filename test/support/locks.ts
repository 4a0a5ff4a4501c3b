// The locks between processes, as the program has them.
import { lockFiles } from '../../src/store/sqlite/lock-file.ts';
import { driver } from './driver.ts';

export const locks = async () => lockFiles(driver);
