// The option that shows times in UTC.
import { Option } from 'commander';

export function utcOption(): Option {
  return new Option('--utc', 'show full times in UTC (the default in a pipe)');
}
