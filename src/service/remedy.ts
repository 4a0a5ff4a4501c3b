// What a person can do after a failure, as a kind and facts. Only the command line turns it into commands and options. A failure whose
// remedy needs no command has a `hint` instead.
import type { ModelProgram } from './model-server.ts';

/** The part of a mode's settings to look at. */
export type ModeSubject = 'address' | 'base address' | 'key' | 'rights of the key' | 'settings';

export type Remedy =
  /** Check the settings of a mode. */
  | { readonly kind: 'check_mode'; readonly mode: string; readonly subject: ModeSubject }
  /** Change a mode whose settings break a rule, or remove it. */
  | { readonly kind: 'mend_mode'; readonly mode: string }
  /** Look at the current settings of a mode, and change it again. */
  | { readonly kind: 'look_at_mode'; readonly mode: string }
  /** Choose another fallback for a mode. */
  | { readonly kind: 'change_fallback'; readonly mode: string }
  | { readonly kind: 'choose_default_mode' }
  /** Name the source of a key, instead of giving the key itself. */
  | { readonly kind: 'refer_to_key' }
  /** Name the source of the key of a mode, which has none. */
  | { readonly kind: 'name_key'; readonly mode: string }
  /** Store the key of a mode elsewhere. */
  | { readonly kind: 'move_key'; readonly mode: string }
  | { readonly kind: 'change_address'; readonly mode: string }
  /** Choose another model. `pull`: the model that Ollama can fetch. */
  | { readonly kind: 'choose_model'; readonly mode: string; readonly pull: string | null }
  /** Send fewer tokens of a conversation than `tokens`; null if the mode names no number. */
  | { readonly kind: 'send_less'; readonly mode: string; readonly tokens: number | null }
  /** `ofCompletion`: the mode limits the tokens as OpenAI's newer models require it. */
  | { readonly kind: 'allow_longer_reply'; readonly mode: string; readonly ofCompletion: boolean }
  | { readonly kind: 'split_think_tags'; readonly mode: string }
  | { readonly kind: 'show_reasoning' }
  /** Start a model server on this machine. `program`: the one whose default port the address has. */
  | { readonly kind: 'start_model_server'; readonly mode: string; readonly program: ModelProgram | null }
  /** Allow a longer silence of the model of `mode`, or of the server if `mode` is null. */
  | {
      readonly kind: 'allow_longer_silence';
      readonly mode: string | null;
      readonly within: 'reply' | 'start';
    }
  | { readonly kind: 'trust_certificate' }
  | { readonly kind: 'check_proxies' }
  /** Allow plain HTTP, to the server of a mode if `ofMode`. */
  | { readonly kind: 'allow_plain_http'; readonly ofMode: boolean }
  | { readonly kind: 'name_mode' }
  | { readonly kind: 'make_template'; readonly name: string }
  | { readonly kind: 'mend_template'; readonly name: string }
  /** Give a store or the URL of a server, not both. */
  | { readonly kind: 'choose_store_or_url' }
  | { readonly kind: 'allow_insecure_store' }
  /** Give a profile or a URL, not both. */
  | { readonly kind: 'choose_profile_or_url' }
  | { readonly kind: 'list_keys' }
  /** Store a URL and its key in a profile: in `profile`, if it is given. */
  | { readonly kind: 'log_in'; readonly profile: string | null }
  /** Name the profile that has a key for the URL, in place of the URL. */
  | { readonly kind: 'use_profile'; readonly profile: string }
  | { readonly kind: 'make_profile' }
  | { readonly kind: 'name_another_profile' }
  | { readonly kind: 'make_store' }
  /** Bring the tables of a store to the newest schema. `byOwner`: the user of the store may not change them. */
  | { readonly kind: 'migrate_store'; readonly byOwner: boolean }
  /** Continue a stopped copy of a store. */
  | { readonly kind: 'resume_copy' }
  /** Create a store that is lost from a backup. */
  | { readonly kind: 'restore_store' }
  /** Let a restored backup take the place of a store. */
  | { readonly kind: 'replace_store' }
  | { readonly kind: 'restore_session' }
  | { readonly kind: 'import_an_export' }
  /** Import on the machine of the store, where no limits of HTTP apply. */
  | { readonly kind: 'import_at_store' }
  | { readonly kind: 'count_again' }
  | { readonly kind: 'show_answer' }
  /** Name the place of the reply in the server's answer. */
  | { readonly kind: 'name_reply_pointer' }
  | { readonly kind: 'choose_port' }
  | { readonly kind: 'choose_open_port' }
  | { readonly kind: 'choose_host' }
  | { readonly kind: 'choose_metrics_address' };
