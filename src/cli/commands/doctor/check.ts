// One check of `parley doctor`.

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly finding: string;
  /** What to do about it; empty for nothing. A check that passes may have a hint, too. */
  readonly hint: string;
}

/** What a check found. */
type Finding = string | Pick<Check, 'finding' | 'hint'>;

export type RunCheck = (name: string, find: () => Finding | Promise<Finding>) => Promise<boolean>;
