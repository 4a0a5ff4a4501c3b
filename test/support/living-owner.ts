// Whether the process that owns a turn still runs. The processes of these tests name themselves by a word and their pid.
export function lives(owner: string): boolean {
  try {
    process.kill(Number(owner.split(' ')[1]), 0);
    return true;
  } catch {
    return false;
  }
}
