// The option that shows times as the service gives them.
import { Option } from 'commander';

export function utcOption(): Option {
  return new Option('--utc', 'times as they are kept, in UTC (a pipe always gets these)');
}
