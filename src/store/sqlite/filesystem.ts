// Finds out the file system of a directory, and whether the locks and the shared memory of SQLite work between machines there. The code
// reads one number from the kernel; open.ts refuses.
import { statfsSync } from 'node:fs';

// From Linux, include/uapi/linux/magic.h, and the headers of the file systems. Other systems use other, small numbers, which match nothing
// here.
const names: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
  [0x73757245, 'coda'],
  [0x00c36400, 'ceph'],
  [0x01161970, 'gfs2'],
  [0x7461636f, 'ocfs2'],
  [0x0bd00bd0, 'lustre'],
  [0x47504653, 'gpfs'],
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0xf2f52010, 'f2fs'],
  [0x2fc12fc1, 'zfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlay'],
  [0x01021997, '9p'],
  [0x65735546, 'fuse'],
]);

// `9p` and `fuse` are not in the list: virtual machines and containers mostly use these names for a local disk.
const network: ReadonlySet<string> = new Set(
  'nfs smb cifs smb2 afs coda ceph gfs2 ocfs2 lustre gpfs'.split(' '),
);

/** The name of the directory's file system, for example `ext4`; `unknown (0x…)` for a number that is not in the list. */
export function filesystemType(directory: string): string {
  const number = statfsSync(directory).type >>> 0;
  return names.get(number) ?? `unknown (0x${number.toString(16)})`;
}

export function isNetworkFilesystem(type: string): boolean {
  return network.has(type);
}
