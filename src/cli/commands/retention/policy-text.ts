// Describes a policy, what it would do, and why its next run needs a confirmed count.
import type {
  ConfirmationReason,
  RetentionPlan,
  RetentionPolicy,
} from '../../../service/project-retention.ts';
import { counted } from '../../counted.ts';
import { spanText } from '../../time-span.ts';

/** For a store without policies. */
export const noPolicy = 'No policy is set, so nothing expires.';

export function policyText({ after_ms, keep_last, erase_after_ms }: RetentionPolicy): string {
  return [
    `expire after ${spanText(after_ms)} without activity`,
    ...(keep_last === null ? [] : [`keep the newest ${keep_last}`]),
    erase_after_ms === null ? 'erase nothing' : `erase ${spanText(erase_after_ms)} later`,
  ].join(', ');
}

export function planText({ expire, erase, project_name }: RetentionPlan): string {
  const erased = erase === 0 ? '' : `, and ${erase} that expired earlier would be permanently erased`;
  return `${counted(expire, 'session')} of project ${project_name} would expire${erased}.`;
}

export const reasonText = {
  first_run: 'This is the first run of this policy',
  shorter: 'The policy was shortened',
  clock: 'The last activity in this project is so long ago that the clock of this machine may be wrong',
} as const satisfies Record<ConfirmationReason, string>;
