// The service and the key of a command: the table of precedence, row by row.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveMode, resolveTarget, type TargetRequest } from '../../src/config/settings.ts';
import { emptyConfig, emptyProfile, type StoredConfig } from '../../src/config/stored-config.ts';
import { ParleyError } from '../../src/service/errors.ts';

const config: StoredConfig = {
  ...emptyConfig,
  profiles: {
    local: { ...emptyProfile, keys: { '/data': 'pk_local', '/other': 'pk_other' }, mode: 'echo' },
    work: {
      ...emptyProfile,
      url: 'https://work.example/api/',
      key: 'pk_work',
      mode: 'deep',
      reply_pointer: '/a',
    },
    home: { ...emptyProfile, url: 'https://home.example', key: 'pk_home', extensions: ['archive'] },
    plain: { ...emptyProfile, url: 'http://plain.example', key: 'pk_plain', insecure_http: true },
    strict: { ...emptyProfile, url: 'http://strict.example', key: 'pk_strict' },
    keyless: { ...emptyProfile, url: 'https://keyless.example' },
    broken: { ...emptyProfile, url: 'https://ada:secret@broken.example', key: 'pk_broken' },
  },
};

interface Given {
  readonly profile?: string;
  readonly url?: string;
  readonly insecureHttp?: boolean;
  readonly store?: string;
  readonly env?: TargetRequest['env'];
  readonly current?: string;
  readonly dataDirectory?: string;
  readonly purpose?: TargetRequest['purpose'];
}

function request(given: Given): TargetRequest {
  return {
    flags: {
      profile: given.profile ?? null,
      url: given.url ?? null,
      insecureHttp: given.insecureHttp ?? false,
      store: given.store ?? null,
      insecureStore: false,
      words: { profile: '--profile', url: '--url', store: '--store' },
    },
    env: given.env ?? {},
    config: { ...config, current: given.current ?? null },
    dataDirectory: given.dataDirectory ?? '/data',
    purpose: given.purpose ?? 'call',
  };
}

/** The profile, URL and key, each with its source; or the code of the error. */
function outcome(given: Given): readonly (string | null)[] | string {
  try {
    const { profile, url, key, sources } = resolveTarget(request(given));
    return [profile, url, key, sources.profile, sources.url, sources.key];
  } catch (error) {
    return error instanceof ParleyError ? error.code : String(error);
  }
}

const U = 'https://hand.example';
const V = 'https://variable.example';
const W = 'https://work.example/api';
const H = 'https://home.example';
const K = 'pk_variable';
const all = { PARLEY_URL: V, PARLEY_API_KEY: K, PARLEY_PROFILE: 'home' };
const none = { PARLEY_URL: '', PARLEY_API_KEY: '', PARLEY_PROFILE: '' };

describe('the row of --profile', () => {
  test.each<[Given, ReturnType<typeof outcome>]>([
    [{ profile: 'work' }, ['work', W, 'pk_work', '--profile', 'profile work', 'profile work']],
    [
      { profile: 'work', env: all, current: 'home' },
      ['work', W, 'pk_work', '--profile', 'profile work', 'profile work'],
    ],
    [
      { profile: 'local', env: all, current: 'home' },
      ['local', null, 'pk_local', '--profile', 'profile local', 'profile local'],
    ],
    [{ profile: 'keyless', env: all }, 'NO_API_KEY'],
    [{ profile: 'none', env: all }, 'CONFIG'],
    [{ profile: '' }, 'CONFIG'],
    [{ profile: '__proto__' }, 'CONFIG'],
    [{ profile: 'constructor' }, 'CONFIG'],
    [{ profile: 'work', url: U }, 'USAGE'],
    [{ profile: 'work', url: U, env: all }, 'USAGE'],
    [{ profile: 'work', url: U, purpose: 'report' }, 'USAGE'],
    [{ profile: 'work', url: U, env: all, purpose: 'login' }, ['work', U, null, '--profile', '--url', null]],
    [{ profile: 'new', url: U, purpose: 'login' }, ['new', U, null, '--profile', '--url', null]],
    [{ profile: 'new', purpose: 'login' }, 'CONFIG'],
  ])('%j is %j', (given, expected) => {
    expect(outcome(given)).toEqual(expected);
  });
});

describe('the row of a URL given by hand', () => {
  test.each<[Given, ReturnType<typeof outcome>]>([
    [{ url: U, env: { PARLEY_API_KEY: K } }, [null, U, K, null, '--url', 'PARLEY_API_KEY']],
    [{ url: U, env: all, current: 'work' }, [null, U, K, null, '--url', 'PARLEY_API_KEY']],
    [{ url: U }, 'NO_API_KEY'],
    [{ url: U, current: 'work' }, 'NO_API_KEY'],
    [{ url: U, env: { PARLEY_PROFILE: 'work' } }, 'NO_API_KEY'],
    [{ url: U, env: { PARLEY_API_KEY: '' } }, 'NO_API_KEY'],
    [{ url: H, current: 'home' }, 'NO_API_KEY'],
    [{ url: '' }, 'CONFIG'],
    [{ env: { PARLEY_URL: V, PARLEY_API_KEY: K } }, [null, V, K, null, 'PARLEY_URL', 'PARLEY_API_KEY']],
    [{ env: all, current: 'work' }, [null, V, K, null, 'PARLEY_URL', 'PARLEY_API_KEY']],
    [{ env: { PARLEY_URL: V }, current: 'work' }, 'NO_API_KEY'],
    [{ env: { PARLEY_URL: H, PARLEY_PROFILE: 'home' } }, 'NO_API_KEY'],
    [{ url: U, purpose: 'report' }, [null, U, null, null, '--url', null]],
    [{ url: U, purpose: 'login' }, [null, U, null, null, '--url', null]],
  ])('%j is %j', (given, expected) => {
    expect(outcome(given)).toEqual(expected);
  });
});

describe('the row of the profile in use', () => {
  const local = ['local', null, 'pk_local', 'the built-in default', 'profile local', 'profile local'];
  test.each<[Given, ReturnType<typeof outcome>]>([
    [
      { env: { PARLEY_PROFILE: 'home' } },
      ['home', H, 'pk_home', 'PARLEY_PROFILE', 'profile home', 'profile home'],
    ],
    [
      { env: { PARLEY_PROFILE: 'home' }, current: 'work' },
      ['home', H, 'pk_home', 'PARLEY_PROFILE', 'profile home', 'profile home'],
    ],
    [
      { env: { PARLEY_PROFILE: 'home', PARLEY_API_KEY: K } },
      ['home', H, K, 'PARLEY_PROFILE', 'profile home', 'PARLEY_API_KEY'],
    ],
    [{ env: { PARLEY_PROFILE: 'none' }, current: 'work' }, 'CONFIG'],
    [{ current: 'work' }, ['work', W, 'pk_work', 'the current profile', 'profile work', 'profile work']],
    [
      { current: 'work', env: { PARLEY_API_KEY: K } },
      ['work', W, K, 'the current profile', 'profile work', 'PARLEY_API_KEY'],
    ],
    [
      { current: 'work', env: none },
      ['work', W, 'pk_work', 'the current profile', 'profile work', 'profile work'],
    ],
    [{ current: 'keyless' }, 'NO_API_KEY'],
    [
      { current: 'keyless', env: { PARLEY_API_KEY: K } },
      ['keyless', 'https://keyless.example', K, 'the current profile', 'profile keyless', 'PARLEY_API_KEY'],
    ],
    [
      { current: 'keyless', purpose: 'report' },
      ['keyless', 'https://keyless.example', null, 'the current profile', 'profile keyless', null],
    ],
    [{ current: 'gone' }, 'CONFIG'],
    [{}, local],
    [{ env: none }, local],
    [
      { env: { PARLEY_API_KEY: K } },
      ['local', null, K, 'the built-in default', 'profile local', 'PARLEY_API_KEY'],
    ],
    [
      { dataDirectory: '/other' },
      ['local', null, 'pk_other', 'the built-in default', 'profile local', 'profile local'],
    ],
    [{ dataDirectory: '/new' }, ['local', null, null, 'the built-in default', 'profile local', null]],
    [{ dataDirectory: 'constructor' }, ['local', null, null, 'the built-in default', 'profile local', null]],
  ])('%j is %j', (given, expected) => {
    expect(outcome(given)).toEqual(expected);
  });
});

describe('errors', () => {
  const failure = (given: Given): ParleyError => {
    try {
      resolveTarget(request(given));
    } catch (error) {
      if (error instanceof ParleyError) return error;
    }
    throw new Error('it did not fail');
  };

  test('an unknown profile is named with its source and the existing profiles', () => {
    const error = failure({ env: { PARLEY_PROFILE: 'wrok' } });
    expect(error.message).toContain('"wrok" (named by PARLEY_PROFILE)');
    expect(error.hint).toContain('local, broken, home, keyless, plain, strict, work');
  });

  test('a value of an option is named as the option is typed', () => {
    expect(failure({ url: U }).message).toBe('There is no key for the URL of --url.');
    expect(failure({ url: 'foo' }).message).toBe('The URL of --url is not a URL.');
    expect(failure({ store: 'sqlite:x' }).message).toContain('The store of --store ');
    expect(failure({ profile: 'wrok' }).message).toContain('"wrok" (named by --profile)');
  });

  test.each<Given>([
    { url: U },
    { profile: 'work' },
    { current: 'work' },
    { env: { PARLEY_PROFILE: 'work' } },
    { env: { PARLEY_URL: V, PARLEY_API_KEY: K } },
  ])('a store of an option is refused beside the server of %j', (given) => {
    const error = failure({ store: 'postgres://parley@127.0.0.1/parley', ...given });
    expect(error).toMatchObject({ code: 'USAGE', remedy: { kind: 'choose_store_or_url' } });
    const local = { store: 'postgres://parley@127.0.0.1/parley', ...given, profile: 'local' };
    if (given.url === undefined) expect(outcome(local)).not.toBe('USAGE');
  });

  test('a missing key comes with the remedy', () => {
    expect(failure({ url: U }).remedy).toEqual({ kind: 'log_in', profile: null });
    expect(failure({ profile: 'keyless' }).remedy).toEqual({ kind: 'log_in', profile: 'keyless' });
    expect(failure({ url: 'https://keyless.example' }).remedy).toEqual({ kind: 'log_in', profile: null });
    expect(failure({ url: `${H}/` }).remedy).toEqual({ kind: 'use_profile', profile: 'home' });
    expect(failure({ env: { PARLEY_URL: H } }).remedy).toEqual({ kind: 'use_profile', profile: 'home' });
  });

  test.each(['pk secret', 'secret\n', 'secret\r\nX: y', 'sécret', ' ', 'secret\u0000'])(
    'the key %j is refused and not repeated',
    (key) => {
      const error = failure({ env: { PARLEY_API_KEY: key } });
      expect(error.code).toBe('CONFIG');
      expect(error.message).toContain('PARLEY_API_KEY');
      expect(error.message + error.hint).not.toMatch(/s.cret/);
    },
  );

  test('an unused key is not checked', () => {
    expect(outcome({ profile: 'work', env: { PARLEY_API_KEY: 'not a key' } })).toContain('pk_work');
  });

  test('the URL of a profile must follow the same rules', () => {
    expect(failure({ profile: 'broken' }).message).toContain('profile broken');
    expect(failure({ profile: 'broken' }).message).not.toContain('secret');
  });

  test('unencrypted HTTP is allowed by the option or by the profile', () => {
    expect(outcome({ profile: 'plain' })).toContain('http://plain.example');
    expect(outcome({ profile: 'strict' })).toBe('CONFIG');
    expect(outcome({ profile: 'strict', insecureHttp: true })).toContain('http://strict.example');
    const env = { PARLEY_API_KEY: K };
    expect(outcome({ url: 'http://hand.example', env, current: 'plain' })).toBe('CONFIG');
    expect(outcome({ url: 'http://hand.example', env, insecureHttp: true })).toContain('http://hand.example');
  });
});

test('the stored features of a server come with its profile, and not with a URL given by hand', () => {
  expect(resolveTarget(request({ profile: 'work' }))).toMatchObject({
    mode: 'deep',
    replyPointer: '/a',
    extensions: null,
  });
  expect(resolveTarget(request({ profile: 'home' }))).toMatchObject({ mode: null, extensions: ['archive'] });
  const byHand = request({ url: W, env: { PARLEY_API_KEY: K }, current: 'work' });
  expect(resolveTarget(byHand)).toMatchObject({ mode: null, replyPointer: null, extensions: null });
});

test('the origin is equal for equal services, and different for others', () => {
  const origin = (given: Given) => resolveTarget(request(given)).origin;
  expect(origin({})).toBe('embedded:/data');
  expect(origin({ dataDirectory: '/other' })).toBe('embedded:/other');
  expect(origin({ profile: 'work' })).toBe(W);
  expect(origin({ url: 'HTTPS://Work.Example:443/api/', env: { PARLEY_API_KEY: K } })).toBe(W);
});

test('a stored key is never sent to a URL given by hand', () => {
  const profileName = fc.constantFrom('work', 'home', 'local', 'none', '');
  const url = fc.oneof(
    fc.constantFrom(U, W, H, 'https://work.example/api/', ''),
    fc.nat(999).map((host) => `https://host-${host}.example`),
  );
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const given = fc.record({
    url: maybe(url),
    PARLEY_URL: maybe(url),
    PARLEY_API_KEY: maybe(fc.constantFrom(K, '')),
    PARLEY_PROFILE: maybe(profileName),
    profile: maybe(profileName),
    current: maybe(profileName),
    purpose: fc.constantFrom('call', 'report', 'login'),
  });
  fc.assert(
    fc.property(given, ({ url, profile, current, purpose, ...env }) => {
      const found = outcome({
        ...(url !== undefined && { url }),
        ...(profile !== undefined && { profile }),
        ...(current !== undefined && { current }),
        purpose,
        env,
      });
      if (typeof found === 'string') return;
      const [, , key, , urlSource, keySource] = found;
      if (urlSource === '--url' || urlSource === 'PARLEY_URL') expect([K, null]).toContain(key);
      else expect(keySource === null || keySource === urlSource || key === K).toBe(true);
      if (profile !== undefined) expect(key).not.toBe(K);
    }),
    { numRuns: 500 },
  );
});

describe('the mode', () => {
  const ofWork = resolveTarget(request({ profile: 'work' }));
  const ofHome = resolveTarget(request({ profile: 'home' }));

  test('is that of the option, else of the variable, else of the profile, else unknown', () => {
    expect(resolveMode('a', { PARLEY_MODE: 'b' }, ofWork)).toEqual({ mode: 'a', source: 'the option mode' });
    expect(resolveMode(null, { PARLEY_MODE: 'b' }, ofWork)).toEqual({ mode: 'b', source: 'PARLEY_MODE' });
    expect(resolveMode(null, { PARLEY_MODE: '' }, ofWork)).toEqual({ mode: 'deep', source: 'profile work' });
    expect(resolveMode(null, {}, ofHome)).toBeNull();
  });

  test('of an empty option is refused', () => {
    expect(() => resolveMode('', {}, ofWork)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});
