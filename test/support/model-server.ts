// A fake model server on this machine: the test decides what it sends, byte for byte.
import type { ServerResponse } from 'node:http';
import { UpstreamEngine } from '../../src/engine/upstream/upstream-engine.ts';
import type { UpstreamOptions } from '../../src/engine/upstream/upstream-options.ts';
import { defaultModeSettings, type ModeSettings } from '../../src/service/mode-settings.ts';

/** A chunk of a streamed completion, as OpenAI sends it. */
export function chunk(delta: object, finish_reason: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'test',
    choices: [{ index: 0, delta, finish_reason }],
  };
}

export const usageChunk = {
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
};

/** Sends each value as an event, and each string unchanged. */
export function sse(...values: readonly (object | string)[]): string {
  return values
    .map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
    .join('');
}

/** A whole reply of these pieces. */
export function replyOf(...pieces: readonly string[]): string {
  const chunks = pieces.map((content) => chunk({ content }));
  return sse(chunk({ role: 'assistant', content: '' }), ...chunks, chunk({}, 'stop'), usageChunk, '[DONE]');
}

export function startStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

export function sendStream(response: ServerResponse, body: string | Uint8Array): void {
  startStream(response).end(body);
}

export function modeSettings(url: string, settings: Partial<ModeSettings> = {}): ModeSettings {
  return { ...defaultModeSettings, name: 'test', base_url: url, model: 'test-model', ...settings };
}

/** The key of every mode that has one. */
export const testKey = 'sk-canary-0123456789abcdef';

export function upstreamOptions(options: Partial<UpstreamOptions> = {}): UpstreamOptions {
  return {
    proxies: {},
    authorities: async () => null,
    readKey: async () => testKey,
    timeout: null,
    now: Date.now,
    trace: null,
    ...options,
  };
}

export function upstreamEngine(
  url: string,
  settings: Partial<ModeSettings> = {},
  options: Partial<UpstreamOptions> = {},
): UpstreamEngine {
  return new UpstreamEngine(modeSettings(url, settings), upstreamOptions(options));
}
