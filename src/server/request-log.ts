// Writes the line of the log for each request, and counts the request in the metrics.
import { ParleyError } from '../service/errors.ts';
import { monotonicMs } from '../system/monotonic-clock.ts';
import { ClientDisconnected, clientDisconnectedStatus } from './client-disconnected.ts';
import { publicFailure } from './public-failure.ts';
import type { RequestContext } from './request-context.ts';
import { type ServerLog, withoutKeys } from './server-log.ts';
import type { ServerMetrics } from './server-metrics.ts';

interface RequestLogOptions {
  readonly logger: ServerLog['logger'];
  /** Null for a server without metrics. */
  readonly metrics: ServerMetrics | null;
  /** True once the server stops: the failures of the last replies are then expected. */
  isStopping(): boolean;
}

export class RequestLog {
  readonly #options: RequestLogOptions;

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  /** `error`: the failure of the request; null for none. */
  record(context: RequestContext, status: number, error: unknown): void {
    const { logger, metrics, isStopping } = this.#options;
    const hasDisconnected = error instanceof ClientDisconnected;
    const publicError = error === null || hasDisconnected ? error : publicFailure(error);
    const { requestId, method, path, apiKey, route, startedAt } = context;
    const milliseconds = Math.round(monotonicMs() - startedAt);
    const loggedStatus = hasDisconnected ? clientDisconnectedStatus : status;
    const code = publicError instanceof ParleyError ? publicError.code : null;
    metrics?.countRequest({ method, route, status: loggedStatus, milliseconds, code });
    const line = {
      request_id: requestId,
      method,
      path: withoutKeys(path, apiKey),
      status: loggedStatus,
      ms: milliseconds,
      ...(code !== null && { code }),
    };
    // The log holds facts that are hidden from the client.
    const isServerError = status >= 500 || publicError !== error;
    if (isServerError && !isStopping()) logger.error({ ...line, err: error });
    else logger.info(line);
  }

  /** `failure`: that of the requested mode, whose fallback has replied. The request itself has succeeded. */
  recordFallback({ requestId }: RequestContext, failure: ParleyError): void {
    this.#options.logger.warn({ request_id: requestId, err: failure }, 'a fallback replied');
  }
}
