// What this service offers beyond the interface document. The header `Parley-Extensions` lists it, so a client knows what a server lacks.

export const extensions = [
  'archive',
  'idempotency',
  'stream',
  'settings',
  'lines',
  'schema',
  'order',
  'sync',
  'mode',
  'users',
] as const;

export type Extension = (typeof extensions)[number];
