// The variable that is to hold the key of a mode, where it is not set on this machine.
import type { ModeSettings } from '../../../service/mode-settings.ts';
import type { CliHost } from '../../cli-host.ts';

/** Null for a variable that is set, and for a key that is elsewhere. */
export function unsetVariable(key: ModeSettings['key'], env: CliHost['env']): string | null {
  const name = /^env:(.*)$/.exec(key ?? '')?.[1];
  return name === undefined || env[name] ? null : name;
}
