// The modes that the mode commands work on: those of the store, if it keeps its own, otherwise those in this machine's configuration.
import type { ModeRepository } from '../../../config/mode-repository.ts';
import { administeredElsewhere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';

/** Rejects with `UNSUPPORTED` if the profile names a server elsewhere, whose modes are set up on its own machine. */
export async function ownModes(context: CliContext): Promise<ModeRepository> {
  const { url } = context.target;
  if (url !== null) throw administeredElsewhere(url);
  // A chat reads modes, too: loaded late here, their rules stand with what a chat loads, and not in the chunk of all commands.
  const { ModeRepository: Modes } = await import('../../../config/mode-repository.ts');
  return new Modes(await context.openModes());
}
