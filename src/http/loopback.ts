// Recognizes the host names of this machine. Such a name is never resolved by DNS: a name server could return the address of another machine,
// and a key would be sent there unencrypted (RFC 6761, section 6.3).
import type { LookupFunction } from 'node:net';

/**
 * True if the host name of a parsed URL is this machine. The URL parser normalizes every form of an IPv4 address to four decimal numbers, and
 * an IPv4 address inside IPv6 to two hexadecimal numbers.
 */
export function isLoopback(hostname: string): boolean {
  return (
    isLocalName(hostname) ||
    /^(127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(hostname)
  );
}

/** True for `localhost` and all names under it. A trailing dot only marks a name as fully qualified. */
export function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}

const addresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Replaces `dns.lookup` for local names. */
export const lookupLocalName: LookupFunction = (_hostname, options, callback) => {
  if (options.all) callback(null, addresses);
  else callback(null, '127.0.0.1', 4);
};
