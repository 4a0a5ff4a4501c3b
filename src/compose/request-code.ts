// Loads the code that a start does not need and a later request may need. A server loads it before the first request, because an upgrade may
// replace its files later, or the process may have no descriptor left to open them.

/** `isSqlite` is false for a store in PostgreSQL, whose code is always loaded completely. */
export async function loadRequestCode(isSqlite: boolean): Promise<void> {
  await Promise.all([
    import('../engine/offline/eliza/colleague.ts'),
    import('../local/audit-chain.ts'),
    import('../local/import-rules.ts'),
    import('../local/local-retention.ts'),
    import('../local/search-query.ts'),
    import('../local/search-rules.ts'),
    import('../local/session-lines.ts'),
    ...(isSqlite ? [import('../store/sqlite/rare-calls.ts')] : []),
  ]);
}
