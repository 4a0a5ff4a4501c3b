// A count with its noun: `1 session`, `2 sessions`.

export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
