// The processes of this machine, as main.ts describes them.
import type { ProcessTable } from '../../src/system/process-identity.ts';

export const processTable: ProcessTable = {
  pid: process.pid,
  isRunning(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ESRCH';
    }
  },
};
