// Reads server-sent events in tests.

export interface ReadEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare what is in it with what they expect
  readonly body: any;
}

/** The events of a whole stream; comments are left out. */
export function eventsOf(text: string): readonly ReadEvent[] {
  return text
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { event: field('event') ?? '', body: JSON.parse(field('data') ?? 'null') };
    });
}
