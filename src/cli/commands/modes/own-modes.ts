// The modes that the mode commands work on: those in this machine's configuration.
import { ModeRepository } from '../../../config/mode-repository.ts';
import { notHere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';

/** Throws `UNSUPPORTED` if the profile names a server elsewhere, whose modes are set up on its own machine. */
export function ownModes({ host, target }: CliContext): ModeRepository {
  if (target.url !== null) throw notHere(target.url);
  return new ModeRepository(host.profileFile);
}
