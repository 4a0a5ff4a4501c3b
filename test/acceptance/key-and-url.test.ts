// Which key is sent to which URL: every row of the table, with the real program, as the servers receive it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome, Variables } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

const place = new PlaceInProcess();
let kept: ScriptedServer;
let current: ScriptedServer;
let byHand: ScriptedServer;

beforeAll(async () => {
  const answering = () =>
    serve(({ path }, response) =>
      sendJson(response, { success: true, data: path.endsWith('/models') ? ['only'] : {} }),
    );
  [kept, current, byHand] = await Promise.all([answering(), answering(), answering()]);
  await login('kept', kept.url, 'key-of-kept');
  await login('current', current.url, 'key-of-current');
  await place.output(['profiles', 'use', 'current']);
});
afterAll(async () => {
  await Promise.all([kept.close(), current.close(), byHand.close()]);
  place.remove();
});

function login(profile: string, url: string, key: string): Promise<string> {
  return place.output(['login', '--profile', profile, '--url', url, '--key-stdin'], { stdin: key });
}

/** The keys that have reached each server since the last call, in order. */
let seen = { kept: 0, current: 0, byHand: 0 };
beforeEach(() => {
  seen = { kept: kept.requests.length, current: current.requests.length, byHand: byHand.requests.length };
});

function arrived() {
  const keys = (server: ScriptedServer, since: number) =>
    server.requests.slice(since).map(({ headers }) => headers.authorization ?? null);
  return {
    kept: keys(kept, seen.kept),
    current: keys(current, seen.current),
    byHand: keys(byHand, seen.byHand),
  };
}

function verify(words: readonly string[], env: Variables = {}): Promise<Outcome> {
  return place.parley([...words, 'verify'], { env });
}

const nothing = { kept: [], current: [], byHand: [] };

describe('--profile', () => {
  test('uses the URL and the key of the profile, whatever the variables say', async () => {
    const env = { PARLEY_URL: byHand.url, PARLEY_API_KEY: 'of-the-variable', PARLEY_PROFILE: 'current' };
    expect((await verify(['--profile', 'kept'], env)).status).toBe(0);
    expect(arrived()).toEqual({ ...nothing, kept: ['Bearer key-of-kept'] });
  });

  test('cannot be combined with --url', async () => {
    const { status, err } = await verify(['--profile', 'kept', '--url', byHand.url]);
    expect([status, arrived()]).toEqual([2, nothing]);
    expect(err).toContain('--profile');
  });
});

describe.each([
  ['--url', () => [['--url', byHand.url], {}] as const],
  ['PARLEY_URL', () => [[], { PARLEY_URL: byHand.url }] as const],
])('a URL given by %s', (_name, given) => {
  test('gets the key of PARLEY_API_KEY', async () => {
    const [words, env] = given();
    expect((await verify(words, { ...env, PARLEY_API_KEY: 'of-the-variable' })).status).toBe(0);
    expect(arrived()).toEqual({ ...nothing, byHand: ['Bearer of-the-variable'] });
  });

  test('never gets a stored key, nor any request without a key', async () => {
    const [words, env] = given();
    const { status, err } = await verify(words, env);
    expect([status, arrived()]).toEqual([4, nothing]);
    expect(err).toContain('PARLEY_API_KEY');
  });

  test('has precedence over PARLEY_PROFILE', async () => {
    const [words, env] = given();
    await verify(words, { ...env, PARLEY_API_KEY: 'of-the-variable', PARLEY_PROFILE: 'kept' });
    expect(arrived()).toEqual({ ...nothing, byHand: ['Bearer of-the-variable'] });
  });

  test('gets no stored key even if it is the URL of a profile', async () => {
    const words = _name === '--url' ? ['--url', kept.url] : [];
    const env = _name === '--url' ? {} : { PARLEY_URL: kept.url };
    expect((await verify(words, env)).status).toBe(4);
    expect(arrived()).toEqual(nothing);
  });
});

test('--url has precedence over PARLEY_URL', async () => {
  await verify(['--url', byHand.url], { PARLEY_URL: kept.url, PARLEY_API_KEY: 'of-the-variable' });
  expect(arrived()).toEqual({ ...nothing, byHand: ['Bearer of-the-variable'] });
});

describe.each([
  ['PARLEY_PROFILE', 'kept', { PARLEY_PROFILE: 'kept' }],
  ['the current profile', 'current', {}],
] as const)('%s', (_name, profile, env) => {
  test('gives URL and key', async () => {
    expect((await verify([], env)).status).toBe(0);
    expect(arrived()).toEqual({ ...nothing, [profile]: [`Bearer key-of-${profile}`] });
  });

  test('gives the URL for the key of PARLEY_API_KEY', async () => {
    expect((await verify([], { ...env, PARLEY_API_KEY: 'of-the-variable' })).status).toBe(0);
    expect(arrived()).toEqual({ ...nothing, [profile]: ['Bearer of-the-variable'] });
  });
});

test('without any of them the store on this machine is used, and no server gets a request', async () => {
  await place.output(['profiles', 'use', 'local']);
  const { status, out } = await verify([]);
  await place.output(['profiles', 'use', 'current']);
  expect([status, arrived()]).toEqual([0, nothing]);
  expect(out).toContain('default');
});

test('a URL that could send a key to a wrong server is refused before a socket opens', async () => {
  const env = { PARLEY_API_KEY: 'of-the-variable' };
  for (const url of [
    'http://10.0.0.1/',
    'http://me:secret@127.0.0.1/',
    'ftp://127.0.0.1/',
    'http://a\u0007b/',
  ]) {
    expect((await verify(['--url', url], env)).status).toBe(2);
  }
  expect(arrived()).toEqual(nothing);
});

test('a certificate is checked even if a variable of Node turns the check off', async () => {
  const untrusted = await serve(
    (_, response) => sendJson(response, { success: true, data: {} }),
    testCertificate,
  );
  try {
    const { status, err } = await place.binary(['verify', '--url', untrusted.url], {
      env: { PARLEY_API_KEY: 'of-the-variable', NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' },
    });
    expect([status, untrusted.requests]).toEqual([6, []]);
    expect(err).toContain('is not signed by a trusted authority');
  } finally {
    await untrusted.close();
  }
});

test('a login to a server of a model names the request, and the command for such a server', async () => {
  const ofModel = await serve((_, response) => sendJson(response, { error: { message: 'Not here.' } }, 404));
  try {
    const { status, err } = await place.parley(['login', '--url', `${ofModel.url}/v1`, '--key-stdin'], {
      stdin: 'key-of-provider',
    });
    expect({ status, err }).toEqual({
      status: 1,
      err:
        'parley: Not here. (NOT_FOUND)\n' +
        `The request was POST ${ofModel.url}/v1/v1/auth/verify. ` +
        'Check the URL: it must be the base of a conversation service, without /v1. ' +
        'For the server of a model: parley modes add NAME --base-url URL --model MODEL\n',
    });
  } finally {
    await ofModel.close();
  }
});

test('a login through a gateway that gets no response does not suspect a server of a model', async () => {
  const gateway = await serve((_, response) => response.writeHead(502).end('<html>Bad Gateway</html>'));
  try {
    const { status, err } = await place.parley(['login', '--url', gateway.url, '--key-stdin'], {
      stdin: 'key-of-server',
    });
    expect(status).toBe(1);
    expect(err).toContain('A gateway in front of the server got no response from it.');
    expect(err).not.toContain('modes add');
  } finally {
    await gateway.close();
  }
});

test('an error about a stopped server on this machine names the command that returns to the embedded store', async () => {
  const gone = await serve(({ path }, response) =>
    sendJson(response, { success: true, data: path.endsWith('/models') ? ['only'] : {} }),
  );
  await login('gone', gone.url, 'key-of-gone');
  await gone.close();
  const args = ['models', '--profile', 'gone'];
  expect((await place.parley(args)).err).toMatch(/\(NETWORK\)\n.*\n.*: parley profiles use local\n$/);
  await place.output(['profiles', 'remove', 'gone']);
  await place.output(['profiles', 'use', 'current']);
});
