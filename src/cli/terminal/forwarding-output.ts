// An output in front of another one, with all its properties. A subclass decides how the text is written.
import { terminalFilter } from './filter.ts';
import { FilteredWriter, type Output, type TerminalStream, type UntrustedWriter } from './output.ts';
import type { ColourLevel, Style } from './style.ts';
import type { OutputText } from './terminal-text.ts';

export abstract class ForwardingOutput implements Output {
  protected readonly target: Output;

  constructor(target: Output) {
    this.target = target;
  }

  abstract write(text: OutputText): Promise<void>;

  get isTerminal(): boolean {
    return this.target.isTerminal;
  }

  get redraws(): boolean {
    return this.target.redraws;
  }

  get formats(): boolean {
    return this.target.formats;
  }

  get colour(): ColourLevel {
    return this.target.colour;
  }

  get gone(): AbortSignal {
    return this.target.gone;
  }

  get stream(): TerminalStream {
    return this.target.stream;
  }

  columns(): number {
    return this.target.columns();
  }

  style(): Promise<Style> {
    return this.target.style();
  }

  draw(line: string): void {
    this.target.draw(line);
  }

  erase(): void {
    this.target.erase();
  }

  visible(text: string): string {
    return this.target.visible(text);
  }

  untrusted(): UntrustedWriter {
    return new FilteredWriter(this, terminalFilter());
  }

  finish(): Promise<boolean> {
    return this.target.finish();
  }
}
