// What came back for one request, before anything is made of its body.

export interface ReceivedAnswer {
  readonly status: number;
  /** Seconds, of the header Retry-After; null where it says none. */
  readonly retryAfter: number | null;
  readonly text: string;
  /** What was asked, for messages: `GET https://host/v1/models`. */
  readonly asked: string;
}
