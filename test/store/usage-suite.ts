// The usage that every store counts from its replies.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { newProject, startOfTime, turnReply } from './store-samples.ts';
import { begin } from './turn-steps.ts';

const dayMs = 24 * 60 * 60 * 1000;

export function describeUsage(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: usage`, () => {
    async function filled() {
      const store = await open();
      const projects = [await newProject(store), await newProject(store)] as const;
      const sessions: string[] = [];
      const end = async (project: string, reply: Parameters<typeof turnReply>[0]) => {
        const turn = await begin(store, project);
        sessions.push(turn.session_id);
        await store.endTurn(project, turn, turnReply(reply));
        return turn;
      };
      const usage = { input_tokens: 100, output_tokens: 20 };
      await end(projects[0], { mode: 'large', usage, first_token_ms: 300 });
      await end(projects[1], { mode: 'large', usage, first_token_ms: 100 });
      await end(projects[0], {
        mode: 'small',
        usage: { input_tokens: 1, output_tokens: 2 },
        now: startOfTime + dayMs,
      });
      const failed = await end(projects[0], {
        ...{ mode: 'large', finish_reason: 'error', error_code: 'ENGINE_FAILED', now: startOfTime + dayMs },
      });
      return { store, project: projects[0], sessions, failed };
    }

    it('sums the replies of all projects by mode, the largest first, with the mean time to the first token', async () => {
      const { store } = await filled();
      expect(await store.usage(0, 'mode')).toEqual([
        {
          ...{ group: 'large', turns: 3, failed: 1, first_token_ms: 200 },
          ...{ input_tokens: 200, output_tokens: 40, uncounted: 1 },
        },
        {
          ...{ group: 'small', turns: 1, failed: 0, first_token_ms: null },
          ...{ input_tokens: 1, output_tokens: 2, uncounted: 0 },
        },
      ]);
    });

    it('sums by day in order, and by session', async () => {
      const { store, sessions } = await filled();
      expect((await store.usage(0, 'day')).map(({ group, turns }) => [group, turns])).toEqual([
        ['2024-05-01', 2],
        ['2024-05-02', 2],
      ]);
      const bySession = await store.usage(0, 'session');
      expect(bySession.map(({ group }) => group).sort()).toEqual([...sessions].sort());
    });

    it('leaves out earlier replies', async () => {
      const { store } = await filled();
      const since = startOfTime + dayMs;
      expect((await store.usage(since, 'mode')).map(({ group, turns }) => [group, turns])).toEqual([
        ['small', 1],
        ['large', 1],
      ]);
    });

    it('counts each reply of a failed and repeated turn', async () => {
      const { store, project, failed } = await filled();
      await store.endTurn(project, failed, turnReply({ mode: 'small', now: startOfTime + dayMs + 1 }));
      expect(
        (await store.usage(0, 'mode')).map(({ group, turns, failed: errors }) => [group, turns, errors]),
      ).toEqual([
        ['large', 3, 1],
        ['small', 2, 0],
      ]);
    });
  });
}
