// Finds the project that an option names. A project is known by its keys.
import { ParleyError } from '../service/errors.ts';
import { quoted } from '../service/quoted.ts';
import type { CliContext } from './context.ts';

export interface ChosenProject {
  readonly project_id: string;
  readonly project_name: string;
}

/** Finds a project by its name or id. Throws `USAGE` if there is none. */
export async function namedProject(project: string, context: CliContext): Promise<ChosenProject> {
  const keys = await (await context.administration()).listKeys();
  const found = keys.find(({ project_id, project_name }) => [project_id, project_name].includes(project));
  if (found !== undefined) return found;
  throw new ParleyError('USAGE', `There is no project ${quoted(project)} in this store.`, {
    remedy: { kind: 'list_keys' },
  });
}

/** The named project, or without a name the project of the key in use. */
export async function namedOrOwnProject(
  project: string | undefined,
  context: CliContext,
): Promise<ChosenProject> {
  if (project !== undefined) return namedProject(project, context);
  const { backend } = await context.open();
  return (await backend.service.verify(await context.call())).data;
}
