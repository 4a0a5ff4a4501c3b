// The processes of the system, as /proc and `ps` list them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { endTree, listProcesses } from '../../src/system/process-tree.ts';

/** A shell whose child ignores SIGTERM. Resolves when both run. */
async function stubbornTree(): Promise<{ readonly shell: ChildProcess; readonly child: number }> {
  const line = 'sh -c "trap \'\' TERM; echo \\$\\$; while :; do sleep 0.1; done"; true';
  const shell = spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void shell.kill('SIGKILL'));
  const [first] = await once(shell.stdout, 'data');
  return { shell, child: Number(String(first)) };
}

for (const proc of ['/proc', '/nowhere']) {
  test.skipIf(process.platform !== 'linux' && proc === '/proc')(
    `are listed with their parents (${proc})`,
    async () => {
      const { shell, child } = await stubbornTree();
      const rows = listProcesses(proc);
      expect(rows).toContainEqual({ pid: shell.pid, parent: process.pid, hasEnded: false });
      expect(rows).toContainEqual({ pid: child, parent: shell.pid, hasEnded: false });
      await endTree(shell, 200, proc);
      await expect
        .poll(() => listProcesses(proc).some((row) => row.pid === child && !row.hasEnded), { timeout: 2000 })
        .toBe(false);
    },
  );
}
