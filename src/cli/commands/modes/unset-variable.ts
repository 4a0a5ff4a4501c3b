// The environment variable with the key of a mode, if it is not set on this machine.
import type { ModeSettings } from '../../../service/mode-settings.ts';
import type { CliHost } from '../../cli-host.ts';

/** Null if the variable is set or the key comes from elsewhere. */
export function unsetVariable(key: ModeSettings['key'], env: CliHost['env']): string | null {
  const name = /^env:(.*)$/.exec(key ?? '')?.[1];
  return name === undefined || env[name] ? null : name;
}
