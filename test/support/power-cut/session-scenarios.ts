// Commands over sessions: every reported result holds, and deleted sessions can be restored.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../parley.ts';
import { echo, expected, type Scenario, useOnce } from './scenario.ts';

function creation(): Scenario {
  return {
    name: 'sessions create',
    async prepare(place) {
      await useOnce(place);
      return { words: ['sessions', 'create', '--title', 'kept'] };
    },
    async faults(place, { out }) {
      const id = /^ses_\S+(?=\n)/.exec(out)?.[0];
      return expected(place, id === undefined ? ['sessions', 'list'] : ['sessions', 'get', id]);
    },
  };
}

async function newSessions(place: Place, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await place.newSession());
  return ids;
}

function activeOf(ids: readonly string[], place: Place): readonly string[] {
  const rows = place.rows<{ session_id: string }>('SELECT session_id FROM sessions WHERE deleted_at IS NULL');
  return ids.filter((id) => rows.some(({ session_id }) => session_id === id));
}

function journals(place: Place): readonly string[] {
  const directory = join(place.dataDirectory, 'batches');
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => /^(.*)\.journal$/.exec(name)?.slice(1) ?? []);
}

/** The journal of the batch restores every deleted session, even one whose deletion was not reported. */
function deletion(): Scenario {
  let ids: readonly string[] = [];
  return {
    name: 'sessions delete of a batch',
    async prepare(place) {
      ids = await newSessions(place, 2);
      return { words: ['sessions', 'delete', '-', '--yes'], stdin: ids.join('\n') };
    },
    async faults(place, { out }) {
      const left = activeOf(ids, place);
      const faults = left.filter((id) => out.includes(id)).map((id) => `${id} was deleted, and is there`);
      if (left.length === ids.length) return faults;
      for (const batch of journals(place)) {
        faults.push(...(await expected(place, ['sessions', 'restore', '--batch', batch])));
      }
      const back = activeOf(ids, place);
      return [
        ...faults,
        ...ids.filter((id) => !back.includes(id)).map((id) => `${id} cannot be brought back`),
      ];
    },
  };
}

function restoration(): Scenario {
  let ids: readonly string[] = [];
  return {
    name: 'sessions restore of a batch',
    async prepare(place) {
      ids = await newSessions(place, 2);
      await place.output(['sessions', 'delete', '-', '--yes'], { stdin: ids.join('\n') });
      return { words: ['sessions', 'restore', '--batch', journals(place)[0] ?? ''] };
    },
    async faults(place, { out, ended }) {
      const back = activeOf(ids, place);
      const reported = ids.filter((id) => ended || out.includes(id));
      const lost = reported.filter((id) => !back.includes(id)).map((id) => `${id} was restored, and is gone`);
      const [batch = ''] = journals(place);
      return [...lost, ...(await expected(place, ['sessions', 'restore', '--batch', batch]))];
    },
  };
}

/** An exported file is missing or complete; it exists if that was reported. */
function exportTo(output: string): Scenario {
  let whole = '';
  return {
    name: `sessions export -o ${output}`,
    async prepare(place) {
      await useOnce(place);
      whole = await place.output(['sessions', 'export', '--all', '--format', 'json']);
      return { words: ['sessions', 'export', '--all', '--format', 'json', '-o', output, '--json'] };
    },
    async faults(place, { out, ended }) {
      const file = /"file":"([^"]+)"/.exec(out)?.[1] ?? output;
      const path = join(place.path, file);
      const exists = existsSync(path) && !file.endsWith('/');
      if (!exists)
        return ended || out.includes('exported')
          ? [`${file} is lost`]
          : expected(place, ['sessions', 'list']);
      return readFileSync(path, 'utf8') === whole ? [] : [`${file} is not whole`];
    },
  };
}

function importing(): Scenario {
  return {
    name: 'sessions import',
    async prepare(place) {
      await place.output([...echo, 'carried over']);
      const stdin = await place.output(['sessions', 'export', '--all', '--format', 'json']);
      await place.output(['sessions', 'delete', '--all', '--yes']);
      await place.output(['sessions', 'purge', '--deleted-before', '0d', '--confirm', '1']);
      return { words: ['sessions', 'import', '-'], stdin };
    },
    async faults(place, { out }) {
      const faults = await expected(
        place,
        ['sessions', 'list', '--json'],
        'the import is lost',
        (list) => !out.includes('imported') || list.includes('carried over'),
      );
      const list = await place.parley(['sessions', 'list', '--json']);
      if (!list.out.includes('carried over')) return faults;
      const journal = await expected(
        place,
        ['sessions', 'batches', '--json'],
        'the import cannot be undone',
        (batches) => batches.includes('"imported":1'),
      );
      return [...faults, ...journal];
    },
  };
}

export const sessionScenarios: readonly Scenario[] = [
  creation(),
  deletion(),
  restoration(),
  exportTo('export.json'),
  exportTo('new/directory/'),
  importing(),
];
