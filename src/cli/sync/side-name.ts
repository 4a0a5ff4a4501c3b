// The two places of a sync: the one that the command is run at, and the one that its profile leads to.
export type SideName = 'local' | 'remote';

export function otherSide(side: SideName): SideName {
  return side === 'local' ? 'remote' : 'local';
}
