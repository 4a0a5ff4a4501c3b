// Serves the metrics of a server on a port of their own: `GET /metrics`. They name no project and no session. The port needs no key, so it
// listens on this machine unless another address is given.
import { createServer, type Server } from 'node:http';
import type { ParleyError } from '../service/errors.ts';
import { startListening } from './listening-port.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** Limits the open files, which the server itself needs. */
export const maxConnections = 64;

export interface MetricsListening {
  readonly url: string;
  stop(): Promise<void>;
}

/** Rejects with `CONFIG` if the address or the port cannot be used. */
export async function listenForMetrics(
  metrics: Pick<ServerMetrics, 'text' | 'close'>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsListening> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path !== '/metrics' || !isRead) {
      response.writeHead(path === '/metrics' ? 405 : 404, { 'Content-Type': 'text/plain' });
      response.end('GET /metrics\n');
      return;
    }
    void metrics.text().then(
      (text) => {
        response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
        response.end(request.method === 'HEAD' ? undefined : text);
      },
      () => {
        response.writeHead(500, { 'Content-Type': 'text/plain' });
        response.end('The metrics cannot be read.\n');
      },
    );
  });
  server.maxConnections = maxConnections;
  // Closes idle connections, including those whose reader does not take the response.
  server.setTimeout(30_000);
  const { url } = await startListening(server, host, port).catch((error: ParleyError) => {
    throw error.with({ remedy: { kind: 'choose_metrics_address' } });
  });
  return {
    url: `${url}/metrics`,
    stop: () => close(server).finally(() => metrics.close()),
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
