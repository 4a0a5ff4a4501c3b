// Routes as the server has them: a verb, a path and what serves it; and what is said where there is none.
import { ParleyError } from '../service/errors.ts';
import type { RequestContext } from './request-context.ts';

export interface ServedRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `:id` stands for one segment. */
  readonly path: string;
  /** `id` is that segment, decoded; empty for a path without one. */
  serve(context: RequestContext, request: Request, id: string): Response | Promise<Response>;
}

/** The methods that a path has, as `Allow` names them; empty for a path that no route has. */
export function methodsAt(routes: readonly ServedRoute[], path: string): readonly string[] {
  const methods = routes
    .filter((route) => new RegExp(`^${route.path.replace(/:id/, '[^/]+').replace('.', '\\.')}$`).test(path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  // A fixed word is one of the ids, too.
  return [...new Set(methods)];
}

export function noSuchRoute(): ParleyError {
  return new ParleyError('NOT_FOUND', 'There is no such path here.', {
    hint: 'See /docs for those that there are; none ends in a slash.',
  });
}

export function wrongMethod(methods: readonly string[]): ParleyError {
  return new ParleyError('METHOD_NOT_ALLOWED', 'This path does not have that method.', {
    hint: `It has: ${methods.join(', ')}.`,
  });
}
