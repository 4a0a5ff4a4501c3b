// Lets an HTTP server listen on a port, and explains why a port cannot be used.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ParleyError } from '../service/errors.ts';
import { beginning } from '../service/quoted.ts';
import type { Remedy } from '../service/remedy.ts';

export interface ListeningPort {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** `port`: 0 takes any free port. Rejects with `CONFIG` if the address or the port cannot be used. */
export async function startListening(server: Server, host: string, port: number): Promise<ListeningPort> {
  await new Promise<void>((resolve, reject) => {
    // The listener stays. Later errors are those of connections that the system could not accept, and the server goes on without these.
    server.on('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
  // A server on a port has no address of another form.
  const { address, family, port: usedPort } = server.address() as AddressInfo;
  const urlHost = family === 'IPv6' ? `[${address}]` : address;
  return { host: address, port: usedPort, url: `http://${urlHost}:${usedPort}` };
}

function cannotListen(error: NodeJS.ErrnoException, name: string, port: number): ParleyError {
  const host = beginning(name);
  const place = `${host} port ${port}`;
  const knownErrors: Readonly<Record<string, readonly [string, Remedy]>> = {
    EADDRINUSE: [`${place} is in use.`, { kind: 'choose_port' }],
    EACCES: [`You are not allowed to listen on ${place}.`, { kind: 'choose_open_port' }],
    EADDRNOTAVAIL: [`${host} is not an address of this machine.`, { kind: 'choose_host' }],
    ENOTFOUND: [`There is no host ${host}.`, { kind: 'choose_host' }],
  };
  const [message, remedy] = knownErrors[error.code ?? ''] ?? [
    `${place}: ${error.message.replaceAll(name, host)}.`,
    null,
  ];
  return new ParleyError('CONFIG', message, { remedy, cause: error });
}
