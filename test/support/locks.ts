// The locks between processes, as in the program.
import { lockFiles } from '../../src/store/sqlite/lock-file.ts';
import { driver } from './driver.ts';

export const locks = async () => lockFiles(driver);
