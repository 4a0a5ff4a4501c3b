// Reports what happened to the modes of a store that was copied or restored.
import type { CopiedModes } from '../../../service/administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';

/** `place` is the file or the store that the modes were copied to. */
export async function reportModes(
  { copied, kept, faulty }: CopiedModes,
  place: string,
  context: CliContext,
): Promise<void> {
  if (copied > 0) await context.say(`Copied ${counted(copied, 'mode')} to ${place}.`);
  if (kept.length > 0) await context.say(`Kept existing modes with the same names: ${kept.join(', ')}.`);
  if (faulty.length > 0) await context.say(`Invalid modes were not copied: ${faulty.join(', ')}.`);
}
