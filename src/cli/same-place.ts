// The options that take a later command to where this one talked to, and to its mode: for the commands that are printed to go on with.
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

/** None for the mode that is used when none is named: by variable, by profile, or by `usual`, which the service chose. */
export function modeOptions(
  mode: string | null,
  usual: string | null,
  { host, target }: CliContext,
): readonly string[] {
  const unnamed = resolveMode(null, host.env, target)?.mode ?? usual;
  return mode === null || mode === unnamed ? [] : ['-m', mode];
}
