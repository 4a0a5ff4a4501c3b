// What to do after a failure, in commands and options. Only this file turns the remedies of other rooms into words.
import type { ParleyError } from '../service/errors.ts';
import type { ModelProgram, Remedy } from '../service/remedy.ts';
import { quoteForShell } from '../system/shell-quote.ts';

/** The failure's own hint, then the helpful commands; empty if there is nothing to do. */
export function nextStep({ hint, remedy }: ParleyError): string {
  return [hint, remedy === null ? '' : remedyText(remedy)].filter((part) => part !== '').join(' ');
}

const startCommands = {
  Ollama: 'Ollama: ollama serve',
  'llama.cpp': 'llama.cpp: llama-server -m model.gguf',
  'LM Studio': 'LM Studio: lms server start',
} as const satisfies Record<ModelProgram, string>;

const checkWords = {
  address: 'Check its address',
  'base address': 'Check its address; it must be the base of an OpenAI-compatible API',
  key: 'Check where the key comes from',
  'rights of the key': 'Check what the key is allowed to do',
  settings: 'Check the settings of the mode',
} as const;

function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'check_mode':
      return `${checkWords[remedy.subject]}: parley modes show ${remedy.mode}`;
    case 'mend_mode':
      return `Mend it: parley modes set ${remedy.mode} …, or take it away: parley modes remove ${remedy.mode}`;
    case 'look_at_mode':
      return `Nothing was changed. See what it is now, and change it again: parley modes show ${remedy.mode}`;
    case 'change_fallback':
      return `Give it another first: parley modes set ${remedy.mode} --fallback ""`;
    case 'choose_default_mode':
      return 'Choose one: parley modes default NAME';
    case 'refer_to_key':
      return 'Say where the key is to be read from: --key env:NAME (in a file of modes, key: env:NAME).';
    case 'move_key':
      return `Or name another place: parley modes set ${remedy.mode} --key WHERE`;
    case 'change_address':
      return `If you trust that place: parley modes set ${remedy.mode} --base-url URL`;
    case 'choose_model': {
      const pull = remedy.pull === null ? 'Choose' : `ollama pull ${remedy.pull}, or choose`;
      return `${pull} another: parley modes set ${remedy.mode} --model MODEL`;
    }
    case 'send_less':
      return `Send it less of the conversation: parley modes set ${remedy.mode} --context TOKENS${remedy.tokens === null ? '' : ` (now ${remedy.tokens})`}, or begin a new session.`;
    case 'allow_longer_reply':
      return `Allow more: parley modes set ${remedy.mode} --max-tokens NUMBER`;
    case 'split_think_tags':
      return `If it sent no notes but a reply: parley modes set ${remedy.mode} --think-tags split`;
    case 'show_reasoning':
      return 'Try again; --reasoning shows its notes.';
    case 'start_model_server': {
      const command = remedy.program === null ? '' : ` (${startCommands[remedy.program]})`;
      return `Start the model server there${command}. Check its address: parley modes show ${remedy.mode}`;
    }
    case 'allow_longer_silence':
      return remedy.mode === null
        ? 'Try again; --timeout SECONDS allows a longer silence.'
        : `Try again, or allow more: --timeout SECONDS, or parley modes set ${remedy.mode} ${remedy.within === 'start' ? '--first-token' : '--idle'} SECONDS`;
    case 'trust_certificate':
      return 'If you trust the server, name its certificate, or that of who signed it: --ca FILE, or NODE_EXTRA_CA_CERTS';
    case 'check_proxies':
      return 'Check HTTPS_PROXY and HTTP_PROXY; NO_PROXY names the hosts that need none.';
    case 'allow_plain_http':
      return 'Use https://, or allow it with --insecure-http.';
    case 'choose_store_or_url':
      return 'A server has a store of its own: give --store, or a server by --url or --profile, not both.';
    case 'allow_insecure_store':
      return 'Leave sslmode out, and name the certificates to trust with sslrootcert; or allow it with --insecure-store.';
    case 'name_mode':
      return '--mode takes the name of a mode. See: parley models';
    case 'make_template':
      return `Make it: parley templates edit ${quoteForShell(remedy.name)}`;
    case 'mend_template':
      return `Mend it: parley templates edit ${quoteForShell(remedy.name)}`;
    case 'choose_profile_or_url':
      return 'A profile has a URL of its own: give --profile or --url, not both.';
    case 'list_keys':
      return 'See the ids with: parley keys list';
    case 'log_in':
      return remedy.profile === null
        ? 'Set PARLEY_API_KEY, or keep URL and key in a profile: parley login --profile NAME --url URL'
        : `Give it one: parley login --profile ${remedy.profile}`;
    case 'make_profile':
      return 'Make one: parley login --profile NAME --url URL';
    case 'name_another_profile':
      return 'Choose another name with --profile NAME.';
    case 'make_store':
      return 'The first chat makes one: parley chat "Hello"';
    case 'migrate_store':
      return 'Migrate it first: parley store migrate, with the same --store or PARLEY_STORE';
    case 'resume_copy':
      return 'Go on with it: the same command with --resume';
    case 'replace_store':
      return 'Name another place, or let the backup take its place with --replace; in SQLite the old store is kept beside it.';
    case 'restore_session':
      return 'If it was deleted here, bring it back with: parley sessions restore';
    case 'import_an_export':
      return 'Import what sessions export --format json has written, as it is.';
    case 'import_at_store':
      return 'Import it where the store of the server lies: parley sessions import FILE --profile local';
    case 'count_again':
      return 'Look again with --dry-run, and confirm that count.';
    case 'show_answer':
      return 'See the answer with --json.';
    case 'name_reply_pointer':
      return 'See the answer with --json; reply_pointer in the profile names the place of the reply in it, as in /data/reply.';
    case 'choose_port':
      return 'Choose another with --port, or 0 for any that is free.';
    case 'choose_open_port':
      return 'Choose a port from 1024 up with --port.';
    case 'choose_host':
      return 'Choose another with --host.';
  }
}
