// Upstream engines over fake servers: created in a test, closed after it.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { UpstreamEngine } from '../../src/engine/upstream/upstream-engine.ts';
import type { UpstreamOptions } from '../../src/engine/upstream/upstream-options.ts';
import type { ModeSettings } from '../../src/service/mode-settings.ts';
import { upstreamEngine } from './model-server.ts';
import {
  type ListeningServer,
  type ReceivedRequest,
  type ScriptedServer,
  serve,
  serveBytes,
} from './scripted-server.ts';

export type StubScript = (response: ServerResponse, request: ReceivedRequest, count: number) => unknown;

export class UpstreamStubs {
  #open: { close(): Promise<void> }[] = [];

  async serve(script: StubScript): Promise<ScriptedServer> {
    return this.#kept(await serve((request, response, count) => script(response, request, count)));
  }

  /** Below HTTP. */
  async serveBytes(onRequest: (socket: Socket, count: number) => unknown): Promise<ListeningServer> {
    return this.#kept(await serveBytes(onRequest));
  }

  engine(
    url: string,
    settings: Partial<ModeSettings> = {},
    options: Partial<UpstreamOptions> = {},
  ): UpstreamEngine {
    return this.#kept(upstreamEngine(url, settings, options));
  }

  async engineOver(
    script: StubScript,
    settings: Partial<ModeSettings> = {},
    options: Partial<UpstreamOptions> = {},
  ): Promise<{ readonly server: ScriptedServer; readonly engine: UpstreamEngine }> {
    const server = await this.serve(script);
    return { server, engine: this.engine(server.url, settings, options) };
  }

  /** Closed in reverse order: engines before their servers. */
  async close(): Promise<void> {
    for (const one of this.#open.splice(0).reverse()) await one.close();
  }

  #kept<T extends { close(): Promise<void> }>(one: T): T {
    this.#open.push(one);
    return one;
  }
}
