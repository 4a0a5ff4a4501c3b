// The contract of every backend of the API, in this process or at a server. The suite uses only the contracts and the
// two modes that need no model. Its parts are in service/.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../src/service/backend.ts';
import type { Call } from '../../src/service/call.ts';
import type { KeyLimits } from '../../src/service/key-limits.ts';
import { callWith, say } from '../support/calls.ts';
import { describeArchive } from './service/archive-suite.ts';
import { describeChat } from './service/chat-suite.ts';
import { describeImport } from './service/import-suite.ts';
import { describeKeyLimits } from './service/key-limits-suite.ts';
import { describeKeys } from './service/keys-suite.ts';
import { describeLines } from './service/lines-suite.ts';
import { describeOrdering } from './service/ordering-suite.ts';
import { describeSearch } from './service/search-suite.ts';
import { everySession, type GivenService } from './service/service-fixture.ts';
import { describeSessions } from './service/sessions-suite.ts';
import { describeSettings } from './service/settings-suite.ts';
import { describeUsers } from './service/user-suite.ts';

/** A backend with two projects, a key for each, and a third key that was revoked. */
export interface ServiceFixture {
  readonly backend: Backend;
  readonly firstProject: string;
  readonly firstKey: string;
  readonly secondKey: string;
  readonly revokedKey: string;
  /** A new key of the first project. */
  readonly issueKey: (limits: Partial<KeyLimits>) => Promise<string>;
  close(): Promise<void>;
}

/** What a service does with the calls of a moment: keys and their limits, turns, imports. */
export const callsAtOnce = [
  describeKeys,
  describeKeyLimits,
  describeSessions,
  describeChat,
  describeArchive,
  describeImport,
  describeLines,
];
const everyPart = [...callsAtOnce, describeSearch, describeSettings, describeOrdering, describeUsers];

export function describeService(
  name: string,
  open: () => Promise<ServiceFixture>,
  parts: readonly ((given: GivenService) => void)[] = everyPart,
): void {
  describe(`the API, ${name}`, () => {
    let fixture: ServiceFixture;
    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(() => fixture.close());
    const given: GivenService = () => ({
      backend: fixture.backend,
      firstProject: fixture.firstProject,
      first: callWith(fixture.firstKey),
      second: callWith(fixture.secondKey),
      revokedKey: fixture.revokedKey,
      issueKey: fixture.issueKey,
    });

    for (const describePart of parts) describePart(given);

    it('an aborted signal stops every operation that has not begun', async () => {
      const { backend, first } = given();
      const reason = new Error('stopped');
      const aborted: Call = { ...first, signal: AbortSignal.abort(reason) };
      await expect(say(backend.service, aborted, 'unsaid')).rejects.toBe(reason);
      expect((await backend.archive.listSessions(first, everySession)).data.items).toEqual([]);
    });
  });
}
