// The routes that need no key: health, readiness, and the documentation of the API.
import { docsHeaders, docsPage } from './docs-page.ts';
import { openApiDocument } from './openapi.ts';
import { jsonResponse, textResponse } from './responses.ts';
import type { ServedRoute } from './routing.ts';
import { type RunningReplies, stopping } from './running-replies.ts';

interface PublicRouteDependencies {
  readonly version: string;
  readonly replies: RunningReplies;
  /** Resolves when the store can be written, and rejects while it cannot. */
  ready(): Promise<void>;
}

export function publicRoutes({ version, replies, ready }: PublicRouteDependencies): readonly ServedRoute[] {
  // Both are created at their first request, because they take longer than the rest of the server's start.
  let documentText: string | null = null;
  let page: string | null = null;
  return [
    {
      method: 'GET',
      path: '/healthz',
      serve: (context) => jsonResponse(context, { success: true, data: { status: 'ok' } }),
    },
    {
      method: 'GET',
      path: '/readyz',
      async serve(context) {
        if (replies.isDraining) throw stopping();
        await ready();
        return jsonResponse(context, { success: true, data: { status: 'ready' } });
      },
    },
    {
      method: 'GET',
      path: '/openapi.json',
      serve(context) {
        documentText ??= JSON.stringify(openApiDocument(version));
        return textResponse(context, 'application/json', documentText);
      },
    },
    {
      method: 'GET',
      path: '/',
      serve: (context) =>
        textResponse(context, 'text/plain', 'See /docs\n', { status: 302, headers: { Location: '/docs' } }),
    },
    {
      method: 'GET',
      path: '/docs',
      serve(context) {
        page ??= docsPage(openApiDocument(version));
        return textResponse(context, 'text/html; charset=utf-8', page, { headers: docsHeaders });
      },
    },
  ];
}
