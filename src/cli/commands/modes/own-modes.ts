// The modes that the mode commands change: those of the store, if it has its own, otherwise those in this machine's configuration.
import type { ModeRepository } from '../../../config/mode-repository.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';

/** Rejects with `UNSUPPORTED` if the target is a server, whose modes are managed on its own machine. */
export async function ownModes(context: CliContext): Promise<ModeRepository> {
  const { url } = context.target;
  if (url !== null) throw administeredElsewhere(url);
  // A dynamic import, as in a chat, keeps the rules of modes out of the chunk that all commands load.
  const { ModeRepository } = await import('../../../config/mode-repository.ts');
  return new ModeRepository(await context.openModes());
}
