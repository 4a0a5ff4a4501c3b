// Parses the part of the Containerfile syntax that docs/deploy/Containerfile uses: an instruction and its arguments per line, lists as JSON.
import { readFileSync } from 'node:fs';

type ContainerStep =
  | { readonly kind: 'COPY'; readonly from: string; readonly to: string }
  | { readonly kind: 'RUN'; readonly line: string };

export interface Containerfile {
  readonly from: string;
  /** The instructions that change the image, in order. */
  readonly steps: readonly ContainerStep[];
  readonly env: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly user: string;
  readonly port: number;
  /** The command of the health check. */
  readonly health: readonly string[];
  /** The entry point, and its arguments. */
  readonly command: readonly string[];
}

export function readContainerfile(path: string): Containerfile {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
      return { word, rest };
    });
  const all = (word: string) => lines.filter((line) => line.word === word).map(({ rest }) => rest);
  const only = (word: string) => {
    const [found, ...more] = all(word);
    if (found === undefined || more.length > 0) throw new Error(`${path} has not one ${word}.`);
    return found;
  };
  const [, health = ''] = /CMD (\[.*\])$/.exec(only('HEALTHCHECK')) ?? [];
  return {
    from: only('FROM'),
    steps: lines.flatMap(({ word, rest }): readonly ContainerStep[] => {
      if (word === 'RUN') return [{ kind: word, line: rest }];
      const [from = '', to = ''] = rest.split(' ');
      return word === 'COPY' ? [{ kind: word, from, to }] : [];
    }),
    env: Object.fromEntries(
      all('ENV')
        .flatMap((rest) => rest.split(' '))
        .map((pair) => pair.split('=') as [string, string]),
    ),
    volumes: all('VOLUME'),
    user: only('USER'),
    port: Number(only('EXPOSE')),
    health: JSON.parse(health),
    command: [...JSON.parse(only('ENTRYPOINT')), ...JSON.parse(only('CMD'))],
  };
}
