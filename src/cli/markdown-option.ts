// The option that controls whether replies are rendered.
import { Option } from 'commander';
import { markdownChoices } from './terminal/reply-writer.ts';

export function markdownOption(): Option {
  const option = new Option('--markdown <when>', 'render replies as Markdown: auto means on a terminal');
  return option.choices(markdownChoices).default('auto');
}
