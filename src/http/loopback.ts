// Which hosts are this machine, and the addresses that their names stand for. Such a name is never looked up: whoever answers for the
// network could name another machine, and a key would go there unencrypted (RFC 6761, section 6.3).
import type { LookupFunction } from 'node:net';

/** Of a parsed URL: its parser writes every form of an IPv4 address as four decimal numbers, and one inside of IPv6 as two of base 16. */
export function isLoopback(hostname: string): boolean {
  return (
    isLocalName(hostname) ||
    /^(127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(hostname)
  );
}

/** `localhost` and all names under it; a dot at the end says only that a name is whole. */
export function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname);
}

const addresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** In place of `dns.lookup`, for local names alone. */
export const lookupLocalName: LookupFunction = (_hostname, options, callback) => {
  if (options.all) callback(null, addresses);
  else callback(null, '127.0.0.1', 4);
};
