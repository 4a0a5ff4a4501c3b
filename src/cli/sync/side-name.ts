// The two sides of a sync: the target in use, and the target of the named profile.
export type SideName = 'local' | 'remote';

export function otherSide(side: SideName): SideName {
  return side === 'local' ? 'remote' : 'local';
}
