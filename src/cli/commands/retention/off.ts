// `parley retention off`: removes the policy of a project. A running run stops, and nothing expires or is erased any more.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { namedOrOwnProject } from '../../project-choice.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerRetentionOff(parent: Command, run: Run): void {
  parent
    .command('off')
    .description('remove the policy, so that nothing expires or is erased')
    .option('--project <name>', 'a project other than that of the key, by name or id')
    .action(run(runRetentionOff));
}

/** Without a project, it is that of the key. */
export async function runRetentionOff(
  { project }: { readonly project?: string },
  context: CliContext,
): Promise<void> {
  const retention = await (await context.administration()).retention();
  const { project_id, project_name } = await namedOrOwnProject(project, context);
  const removed = await retention.removePolicy(project_id);
  if (context.options.json) await context.stdout.write(successLine({ project_id, project_name, removed }));
  else if (removed)
    await context.say(`Removed the policy of project ${project_name}. Nothing expires from now on.`);
  else await context.say(`Project ${project_name} had no policy.`);
}
