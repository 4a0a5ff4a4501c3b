// A service that uses the current modes in each call. Another process may change the modes while a conversation lasts.
import type { ConversationService } from '../service/conversation-service.ts';
import { beforeAbort } from '../system/before-abort.ts';
import type { ModeSource } from './mode-source.ts';

/**
 * `reload` applies the modes that were read last. `models` rejects if the current modes cannot be read. A chat then continues with the
 * previous ones.
 */
export function followedModes(
  service: ConversationService,
  modes: Pick<ModeSource, 'look'>,
  reload: () => Promise<void>,
): ConversationService {
  let isOld = false;
  const follow = async () => {
    isOld = (await modes.look()) || isOld;
    if (!isOld) return;
    await reload();
    isOld = false;
  };
  return {
    verify: (call) => service.verify(call),
    async models(call) {
      await beforeAbort(follow(), call.signal);
      return service.models(call);
    },
    async *chat(call, request, form) {
      await beforeAbort(follow(), call.signal).catch(() => {});
      yield* service.chat(call, request, form);
    },
    createSession: (call, request) => service.createSession(call, request),
    getSession: (call, id) => service.getSession(call, id),
    deleteSession: (call, id) => service.deleteSession(call, id),
  };
}
