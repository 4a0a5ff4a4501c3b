// The type of the server's routes, and the failures for an unknown path or method.
import { ParleyError } from '../service/errors.ts';
import type { Route } from '../wire/routes.ts';
import type { RequestContext } from './request-context.ts';

/** A method, a path, and their handler. */
export interface ServedRoute {
  readonly method: Route['method'];
  /** `:id` stands for one segment. */
  readonly path: string;
  /** `id` is the decoded segment; empty for a path without one. */
  serve(context: RequestContext, request: Request, id: string): Response | Promise<Response>;
}

/** The methods of a path, as `Allow` names them; an empty list for a path without a route. */
export function methodsAt(routes: readonly ServedRoute[], path: string): readonly string[] {
  const methods = routes
    .filter((route) => new RegExp(`^${route.path.replace(/:id/, '[^/]+').replace('.', '\\.')}$`).test(path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  // A path with a fixed word also matches a route with `:id`.
  return [...new Set(methods)];
}

export function noSuchRoute(): ParleyError {
  return new ParleyError('NOT_FOUND', 'There is no such path.', {
    hint: 'See /docs for the paths. None of them ends with a slash.',
  });
}

export function wrongMethod(methods: readonly string[]): ParleyError {
  return new ParleyError('METHOD_NOT_ALLOWED', 'This path does not support this method.', {
    hint: `Supported methods: ${methods.join(', ')}.`,
  });
}
