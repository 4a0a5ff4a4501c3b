// Says what became of the modes of a store that was copied or restored.
import type { CopiedModes } from '../../../service/administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';

/** `place`: the file or the store that keeps the modes. */
export async function sayModes(
  { copied, kept, faulty }: CopiedModes,
  place: string,
  context: CliContext,
): Promise<void> {
  if (copied > 0) await context.say(`Copied ${counted(copied, 'mode')} to ${place}.`);
  if (kept.length > 0)
    await context.say(`Other modes of these names are there and stay as they are: ${kept.join(', ')}.`);
  if (faulty.length > 0) await context.say(`Modes that are faulty were not copied: ${faulty.join(', ')}.`);
}
