// The code that a start does without and that some request of a server needs. A server loads it before the first request: later its files
// may have been replaced by another version, or the process may have no descriptor left to open one.

/** `isSqlite`: false for a store in PostgreSQL, whose code is loaded whole. */
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
