// `parley login`: stores a server's URL and a key after the server has accepted the key.
import type { Command } from 'commander';
import { findProfile, putProfile, requireServerName, useProfile } from '../../config/profiles.ts';
import type { Target } from '../../config/settings.ts';
import { emptyProfile, type StoredConfig } from '../../config/stored-config.ts';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext, GlobalOptions } from '../context.ts';
import { helpNote } from '../help-layout.ts';
import { defaultModeOf, listModes } from '../mode-choice.ts';
import type { Run } from '../run.ts';
import { storeKeyChange } from '../store-key-change.ts';
import { filledFieldLines } from '../terminal/fields.ts';
import { toJson } from '../terminal/json.ts';
import { askSecret } from '../terminal/prompt.ts';
import { readMessage } from '../terminal/stdin.ts';

interface LoginFlags {
  /** Reads the key from stdin instead of a hidden prompt. */
  readonly keyStdin?: true;
  /** The JSON pointer to the reply in the server's chat response. Without it, the pointer of the profile is kept. */
  readonly replyPointer?: string;
}

const defaults = `
Without --profile, the profile is named after the host and the port of --url. Without --url, the key is for the profile in use.`;

const keyBytes = 16 * 1024;

export function registerLogin(parent: Command, run: Run): void {
  parent
    .command('login')
    .description(
      'verify a key and store it in a profile (--url and --profile name the server and the profile)',
    )
    .option('--key-stdin', 'read the key from stdin')
    .option(
      '--reply-pointer <pointer>',
      'JSON Pointer to the reply in the response of a third-party server, as in /data/text',
    )
    .addHelpText('after', helpNote(defaults))
    .action(run(runLogin));
}

export async function runLogin(flags: LoginFlags, context: CliContext): Promise<void> {
  const { keyStdin, replyPointer = null } = flags;
  const place = context.resolve('login');
  if (replyPointer !== null && place.url === null) {
    throw new ParleyError('USAGE', '--reply-pointer requires a server: name it with --url.');
  }
  const profile = place.profile ?? profileNameOf(place);
  if (place.url !== null || context.options.store !== null) requireServerName(profile);
  const ownStore = place.store === null ? 'the store on this machine' : `the store ${place.storeName}`;
  const question = `Key for ${place.url ?? ownStore}`;
  if (place.url === null && !keyStdin && !context.prompting.allowed) {
    throw new ParleyError('USAGE', `${question}: there is no terminal to ask for it.`, {
      hint:
        place.store === null
          ? 'Pipe the key in with --key-stdin, and name its server with --url URL.'
          : 'Pipe the key in with --key-stdin. To create one: parley keys create --store URL --project NAME',
    });
  }
  const text = keyStdin
    ? await readKey(context)
    : await askSecret(question, '--key-stdin', context.prompting);
  const key = text.trim();
  if (!/^[\x21-\x7e]+$/.test(key))
    throw invalidKey(key === '' ? 'No key was given.' : 'That is not a key.', null);
  const sources = { ...place.sources, key: null };
  const target = { ...place, profile, key, replyPointer: replyPointer ?? place.replyPointer, sources };
  context.useTarget(target);
  const { backend } = await context.open();
  const { data, body } = await backend.service.verify(await context.call()).catch(addModelServerHint);
  const mode = await defaultMode(context);
  const server = { ...place, profile, key, replyPointer };
  if (place.url === null) {
    const put = await storeKeyChange(profile, context);
    const { storeName } = place;
    await context.host.profileFile.update((config) =>
      useProfile(put(withStore(config, profile, context.options), profile, storeName, key), profile),
    );
  } else {
    await context.host.profileFile.update((config) =>
      useProfile(withServer(server, mode, backend.extensions, config), profile),
    );
  }
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.stdout.write(filledFieldLines(data));
  await context.say(`The key is stored in profile ${profile}, which is now in use.`);
}

/** Adds a hint to a failure that a model's server may have caused: it does not know the path, or sends another body. */
function addModelServerHint(error: unknown): never {
  const isOtherServer =
    error instanceof ParleyError &&
    (error.code === 'NOT_FOUND' || error.code === 'BAD_RESPONSE') &&
    // A gateway that got no response is in front of the right server.
    !error.mayHaveActed;
  if (!isOtherServer) throw error;
  const hint = 'For the server of a model: parley modes add NAME --base-url URL --model MODEL';
  throw error.with({ hint: `${error.hint} ${hint}`.trim() });
}

/** The profile with the named store, or unchanged if none was named. */
function withStore(
  config: StoredConfig,
  profile: string,
  { store, insecureStore }: Pick<GlobalOptions, 'store' | 'insecureStore'>,
): StoredConfig {
  if (store === null) return config;
  const known = findProfile(config, profile) ?? emptyProfile;
  return putProfile(config, profile, { ...known, store, insecure_store: insecureStore });
}

/** Reads the key. The usual hint for an input that is too long or not text, how to send it as a message, would not help here. */
async function readKey(context: CliContext): Promise<string> {
  try {
    return await readMessage(context.reading('a key', 'leave out --key-stdin to be asked'), keyBytes);
  } catch (error) {
    const isInvalid =
      error instanceof ParleyError && ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE'].includes(error.code);
    throw isInvalid ? invalidKey('That is not a key.', error) : error;
  }
}

function invalidKey(message: string, cause: unknown): ParleyError {
  return new ParleyError('USAGE', message, {
    hint: 'A key is one word of printable ASCII characters. Nothing was stored.',
    cause,
  });
}

/** The default mode of the server; null if it has none. It is stored with the key, so that a chat needs no request for it. */
async function defaultMode(context: CliContext): Promise<string | null> {
  const modes = await listModes(context);
  const chosen = defaultModeOf(modes);
  if (chosen === null) {
    await context.say(
      `The server has no default mode; choose one with -m: ${modes.map(({ name }) => name).join(', ')}.`,
    );
  }
  return chosen;
}

function withServer(
  target: Target & { readonly profile: string; readonly key: string },
  mode: string | null,
  extensions: readonly string[] | null,
  config: StoredConfig,
): StoredConfig {
  const { profile, url, key } = target;
  return putProfile(config, profile, {
    ...(findProfile(config, profile) ?? emptyProfile),
    url,
    key,
    mode,
    insecure_http: target.insecureHttp,
    ...(target.replyPointer !== null && { reply_pointer: target.replyPointer }),
    // A server whose responses lack the header has no extensions.
    extensions: extensions ?? [],
  });
}

/** The profile gets the name of its server if the user gave none. */
function profileNameOf({ url }: Target): string {
  const host = url === null ? 'local' : new URL(url).host;
  return host
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 64);
}
