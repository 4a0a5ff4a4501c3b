// The errors of purges and redactions.
import { ParleyError } from '../service/errors.ts';

export function otherCount(found: number, expected: number): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The number of sessions to erase is ${found}, not ${expected}.`, {
    hint: 'Nothing was erased.',
    remedy: { kind: 'count_again' },
    details: [{ field: 'expected_sessions', problem: `is not ${found}` }],
  });
}

export function inUse(kind: 'busy' | 'changed', session_id: string): ParleyError {
  const problem = kind === 'busy' ? 'A turn runs in' : 'A text changed meanwhile in';
  return new ParleyError('SESSION_BUSY', `${problem} the session ${session_id}.`, {
    hint: 'Nothing was replaced in it. Try again.',
    session_id,
  });
}
