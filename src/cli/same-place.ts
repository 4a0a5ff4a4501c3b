// The options that lead a later command to the same target, for commands that are printed.
import type { GlobalOptions } from './context.ts';

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
