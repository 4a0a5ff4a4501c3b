// The files of docs/deploy.md: systemd accepts the unit, the container needs no rights and reports its health, haproxy accepts its file,
// and each fits the program.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readContainerfile } from './support/containerfile.ts';
import { hasCommand } from './support/machine.ts';
import { Place, program } from './support/parley.ts';
import { removeAfterTest } from './support/remove-after-test.ts';
import { servePlace } from './support/served-place.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';
import { testCertificate } from './support/test-certificate.ts';

const deploy = fileURLToPath(new URL('../docs/deploy/', import.meta.url));
const directory = temporaryDirectory(afterAll);

describe('the unit of systemd', () => {
  const unit = readFileSync(join(deploy, 'parley.service'), 'utf8');
  const settings = new Map(
    [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );

  test.runIf(hasCommand('systemd-analyze'))('passes systemd-analyze', () => {
    const file = join(directory, 'parley.service');
    // The unit must find the program, and the program must find Node.
    writeFileSync(file, unit.replace('/usr/local/bin/parley', program));
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect(verified.stderr.split('\n').filter((line) => line.includes('parley'))).toEqual([]);
    expect(verified.status).toBe(0);
  });

  test('starts a server whose status after SIGTERM it takes for success', async () => {
    const [executable, command, ...words] = settings.get('ExecStart')?.split(' ') ?? [];
    expect([executable, command]).toEqual(['/usr/local/bin/parley', 'serve']);
    const place = removeAfterTest(new Place());
    const served = await servePlace(place, words);
    const { status } = await served.end('SIGTERM');
    expect(status).toBe(Number(settings.get('SuccessExitStatus')));
  });

  test('lets the program write where its state is, and nowhere else', () => {
    const state = `/var/lib/${settings.get('StateDirectory')}`;
    const places = settings.get('Environment')?.match(/\/\S+/g) ?? [];
    expect(places).toEqual([`${state}/config`, `${state}/data`]);
    expect(settings.get('ProtectSystem')).toBe('strict');
  });
});

describe('the Containerfile', () => {
  const file = readContainerfile(join(deploy, 'Containerfile'));

  test('runs as a user without rights, with one volume for all that is written', () => {
    expect(file.user).not.toMatch(/^(root|0)\b/);
    expect(file.volumes).toHaveLength(1);
    const [volume = ''] = file.volumes;
    expect(Object.keys(file.env)).toEqual(['PARLEY_CONFIG_DIR', 'PARLEY_DATA_DIR']);
    for (const path of Object.values(file.env)) expect(path.startsWith(`${volume}/`)).toBe(true);
  });

  test('has a health check that tells a server that runs from one that does not', async () => {
    const [command, ...words] = file.health;
    expect(command).toBe('node');
    const place = removeAfterTest(new Place());
    const served = await servePlace(place, ['--quiet']);
    const check = () => {
      const there = words.map((word) => word.replace(`127.0.0.1:${file.port}`, `127.0.0.1:${served.port}`));
      expect(there).not.toEqual(words);
      return spawnSync(process.execPath, there).status;
    };
    expect(check()).toBe(0);
    await served.end('SIGTERM');
    expect(check()).toBe(1);
  });
});

test.runIf(hasCommand('haproxy'))('haproxy accepts the file for the balancer', () => {
  const pem = join(directory, 'parley.pem');
  writeFileSync(pem, `${testCertificate.cert}\n${testCertificate.key}\n`);
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(
    file,
    readFileSync(join(deploy, 'haproxy.cfg'), 'utf8').replace('/etc/haproxy/parley.pem', pem),
  );
  const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
  expect(checked.stderr).toBe('');
  expect(checked.status).toBe(0);
});
