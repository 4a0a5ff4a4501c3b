// The options that lead a later command to the same target and mode, for commands that are printed.
import { resolveMode } from '../config/settings.ts';
import type { CliContext, GlobalOptions } from './context.ts';

export type PlaceGiven = Pick<
  GlobalOptions,
  'profile' | 'url' | 'insecureHttp' | 'store' | 'insecureStore' | 'ca'
>;

export function placeOptions(given: PlaceGiven): readonly string[] {
  const { profile, url, insecureHttp, store, insecureStore, ca } = given;
  return [
    ...(profile === null ? [] : ['--profile', profile]),
    ...(url === null ? [] : ['--url', url]),
    ...(store === null ? [] : ['--store', store]),
    ...(insecureStore ? ['--insecure-store'] : []),
    ...(insecureHttp ? ['--insecure-http'] : []),
    ...(ca === null ? [] : ['--ca', ca]),
  ];
}

/** Empty if a later command uses this mode anyway: by variable, by profile, or because the service chose `usual`. */
export function modeOptions(
  mode: string | null,
  usual: string | null,
  { host, target }: CliContext,
): readonly string[] {
  const unnamed = resolveMode(null, host.env, target)?.mode ?? usual;
  return mode === null || mode === unnamed ? [] : ['-m', mode];
}
