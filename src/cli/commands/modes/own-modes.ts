// The modes that a command on modes works on: those of this machine's configuration.
import { ModeRepository } from '../../../config/mode-repository.ts';
import { notHere } from '../../backend-administration.ts';
import type { CliContext } from '../../context.ts';

/** `UNSUPPORTED` where the command talks to a server elsewhere: its modes are set up on its own machine. */
export function ownModes({ host, target }: CliContext): ModeRepository {
  if (target.url !== null) throw notHere(target.url);
  return new ModeRepository(host.profileFile);
}
