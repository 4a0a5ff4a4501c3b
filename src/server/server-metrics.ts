// The metrics of a server since its start, for Prometheus. No label is a key, a project, a session, a title or the path of a request.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { ChatEvent, ChatReply } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { StoreGauges, StoreMeasures } from '../service/store-measures.ts';
import { Counter, Gauge, Histogram, type MetricFamily } from './metric-families.ts';

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const modelSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** A request that was served. */
interface ServedRequest {
  readonly method: string;
  /** The path of the route, such as `/v1/sessions/:id`; empty for a path without one. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  /** The code of the failure; null for none. */
  readonly code: string | null;
}

interface MetricSources {
  readonly version: string;
  readonly measures: StoreMeasures;
  /** The live servers that share the store. */
  readonly servers: () => number;
}

export class ServerMetrics {
  readonly #families: MetricFamily[] = [];
  readonly #requests = this.#add(
    new Counter('parley_requests_total', 'Requests that were served.', 'method', 'route', 'status'),
  );
  readonly #errors = this.#add(
    new Counter('parley_errors_total', 'Failures that were returned, by code.', 'code'),
  );
  readonly #requestTimes = this.#add(
    new Histogram(
      'parley_request_seconds',
      'Time to the end of a response, except those of models.',
      requestSeconds,
      'route',
    ),
  );
  readonly #turns = this.#add(
    new Counter('parley_turns_total', 'Turns that ended, by mode and finish reason.', 'mode', 'finish'),
  );
  readonly #tokens = this.#add(
    new Counter('parley_tokens_total', 'Tokens that models counted.', 'mode', 'direction'),
  );
  readonly #firstTokens = this.#add(
    new Histogram('parley_first_token_seconds', 'Time to the first text of a reply.', modelSeconds, 'mode'),
  );
  readonly #turnTimes = this.#add(
    new Histogram('parley_turn_seconds', 'Duration of a turn.', modelSeconds, 'mode'),
  );
  readonly #commits = this.#add(
    new Histogram('parley_commit_seconds', 'Time until a write is durable.', commitSeconds),
  );
  readonly #retained = this.#add(
    new Counter('parley_retention_sessions_total', 'Sessions that retention expired and erased.', 'action'),
  );
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  readonly #sources: MetricSources;
  #running = 0;
  #streams = 0;
  #store: StoreGauges | null = null;
  /** Epoch seconds. */
  #lastRetentionRun = 0;

  constructor(sources: MetricSources) {
    this.#sources = sources;
    sources.measures.onCommit((milliseconds) => this.#commits.observe([], milliseconds / 1000));
    this.#delay.enable();
    this.#families.push(...this.#gauges());
  }

  countRequest({ method, route, status, milliseconds, code }: ServedRequest): void {
    const place = route === '' ? 'none' : route;
    this.#requests.add([knownMethods.has(method) ? method : 'other', place, String(status)]);
    if (code !== null) this.#errors.add([code]);
    if (!modelRoutes.has(route)) this.#requestTimes.observe([place], milliseconds / 1000);
  }

  /** Counts a retention run of this server. */
  countRetention(
    { expired, erased }: { readonly expired: number; readonly erased: number },
    now: number,
  ): void {
    this.#retained.add(['expired'], expired);
    this.#retained.add(['erased'], erased);
    this.#lastRetentionRun = now / 1000;
  }

  countStreamStart(): void {
    this.#streams += 1;
  }

  countStreamEnd(): void {
    this.#streams -= 1;
  }

  /** Yields the same events. The turn is counted when it ends. */
  async *countTurn(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent, void> {
    const began = performance.now();
    const seconds = () => (performance.now() - began) / 1000;
    let mode = '';
    let finish: string | null = null;
    let isFirst = true;
    this.#running += 1;
    try {
      for await (const event of events) {
        if (event.event === 'session') mode = event.data.mode;
        else if (event.event === 'delta' && isFirst) {
          isFirst = false;
          this.#firstTokens.observe([mode], seconds());
        } else if (event.event === 'done') {
          mode = event.data.mode;
          finish = event.data.finish_reason;
          this.#countTokens(event.data);
        }
        yield event;
      }
    } catch (error) {
      // Any other error is the reason of an abort signal: the client has disconnected.
      if (error instanceof ParleyError) finish ??= 'error';
      throw error;
    } finally {
      this.#running -= 1;
      // A request that was refused before its message was stored is not a turn.
      if (mode !== '') {
        this.#turns.add([mode, finish ?? 'interrupted']);
        this.#turnTimes.observe([mode], seconds());
      }
    }
  }

  /** The current metrics. If the store does not respond, its metrics are left out. */
  async text(): Promise<string> {
    this.#store = await this.#sources.measures.gauges().catch(() => null);
    const text = this.#families.map((family) => family.text()).join('');
    this.#delay.reset();
    return text;
  }

  close(): void {
    this.#delay.disable();
  }

  #add<Family extends MetricFamily>(family: Family): Family {
    this.#families.push(family);
    return family;
  }

  #countTokens({ mode, usage }: ChatReply): void {
    if (usage === null) return;
    this.#tokens.add([mode, 'input'], usage.input_tokens);
    this.#tokens.add([mode, 'output'], usage.output_tokens);
  }

  #gauges(): readonly MetricFamily[] {
    const { version, servers } = this.#sources;
    const single = (name: string, help: string, value: () => number) =>
      new Gauge(name, help, null, () => new Map([['', value()]]));
    const ofStore = (name: string, help: string, value: (store: StoreGauges) => number) =>
      new Gauge(name, help, null, () => new Map(this.#store === null ? [] : [['', value(this.#store)]]));
    return [
      new Gauge('parley_build_info', 'The version of this server.', 'version', () => new Map([[version, 1]])),
      single('parley_running_turns', 'Turns that are running.', () => this.#running),
      single('parley_streams', 'Replies that are streaming.', () => this.#streams),
      single('parley_servers', 'Live servers that share the store.', servers),
      single('parley_store_up', '1 if the store responded, else 0.', () => Number(this.#store !== null)),
      ofStore('parley_store_bytes', 'Size of the store.', ({ bytes }) => bytes),
      single(
        'parley_retention_last_run_timestamp_seconds',
        'When this server last ran a retention policy; 0 for never.',
        () => this.#lastRetentionRun,
      ),
      new Gauge('parley_store_connections', 'Connections to the database.', 'state', () => {
        const { connections } = this.#store ?? {};
        return new Map(connections == null ? [] : Object.entries(connections));
      }),
      single(
        'parley_event_loop_delay_seconds',
        'The 99th percentile of the event loop delay since the last scrape.',
        () => this.#delay.percentile(99) / 1e9,
      ),
      single('parley_heap_bytes', 'JavaScript heap in use.', () => getHeapStatistics().used_heap_size),
    ];
  }
}

const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PATCH',
  'DELETE',
  'PUT',
  'OPTIONS',
]);
const modelRoutes: ReadonlySet<string> = new Set(['/v1/chat', '/v1/sessions/:id/regenerate']);
