// The options that select the same target and the same output again, for commands that Parley prints.
import type { GlobalOptions } from './context.ts';

export type TargetFlags = Pick<
  GlobalOptions,
  'profile' | 'url' | 'insecureHttp' | 'store' | 'insecureStore' | 'ca'
>;

export function targetOptions(flags: TargetFlags): readonly string[] {
  const { profile, url, insecureHttp, store, insecureStore, ca } = flags;
  return [
    ...(profile === null ? [] : ['--profile', profile]),
    ...(url === null ? [] : ['--url', url]),
    ...(store === null ? [] : ['--store', store]),
    ...(insecureStore ? ['--insecure-store'] : []),
    ...(insecureHttp ? ['--insecure-http'] : []),
    ...(ca === null ? [] : ['--ca', ca]),
  ];
}

export function outputOptions({ json, jq }: Pick<GlobalOptions, 'json' | 'jq'>): readonly string[] {
  return [...(json ? ['--json'] : []), ...(jq === null ? [] : ['--jq', jq])];
}
