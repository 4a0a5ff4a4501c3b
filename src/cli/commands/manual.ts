// `parley __manual`, hidden: prints the manual page. The build keeps it as dist/parley.1, which the package installs.
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import type { Run } from '../run.ts';
import { toJson } from '../terminal/json.ts';

export interface ManualInput {
  readonly program: Command;
}

export function registerManual(parent: Command, run: Run): void {
  parent
    .command('__manual', { hidden: true })
    .description('print the manual page, in the form that man reads')
    .action((_options, command: Command) =>
      run(command, (context) => runManual({ program: parent }, context)),
    );
}

export async function runManual({ program }: ManualInput, context: CliContext): Promise<undefined> {
  const { manPage } = await import('../manual/man-page.ts');
  const page = manPage(program, context.host.version);
  await context.stdout.write(context.options.json ? `${toJson({ success: true, data: { page } })}\n` : page);
}
