// Measurements of a store, for the metrics of a server.

export interface StoreGauges {
  readonly bytes: number;
  /** The connections to the database; null for a store in a file. */
  readonly connections: StoreConnections | null;
}

export interface StoreConnections {
  /** The limit of open connections. */
  readonly most: number;
  readonly open: number;
  /** Open connections that are not in use. */
  readonly free: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
}

export interface StoreMeasures {
  /** Reads little, however large the store is. Rejects like any read. */
  gauges(): Promise<StoreGauges>;
  /** The listener gets the time of each write, from its beginning until it is durable, in ms. There is one listener. */
  onCommit(listener: (milliseconds: number) => void): void;
}
