// A service that uses the current modes in each call. Another process may change the modes while a conversation lasts.
import type { ProfileFile } from '../config/profile-file.ts';
import type { StoredConfig } from '../config/stored-config.ts';
import type { ConversationService } from '../service/conversation-service.ts';

type Follow = (service: ConversationService, reload: () => Promise<void>) => ConversationService;

/**
 * `config` holds the modes that the service uses now. `models` rejects if the current modes cannot be read. A chat then continues with the
 * previous ones.
 */
export function followedModes(profileFile: Pick<ProfileFile, 'read'>, config: StoredConfig): Follow {
  const textOf = ({ modes, default_mode }: StoredConfig) => JSON.stringify({ modes, default_mode });
  let followed = textOf(config);
  return (service, reload) => {
    const follow = async () => {
      const now = textOf(profileFile.read());
      if (now === followed) return;
      await reload();
      followed = now;
    };
    return {
      verify: (call) => service.verify(call),
      async models(call) {
        await follow();
        return service.models(call);
      },
      async *chat(call, request, form) {
        await follow().catch(() => {});
        yield* service.chat(call, request, form);
      },
      createSession: (call, request) => service.createSession(call, request),
      getSession: (call, id) => service.getSession(call, id),
      deleteSession: (call, id) => service.deleteSession(call, id),
    };
  };
}
