// A twentieth of the matrix as a program, so that it can run over a mutant of the filter: prints what passed in each place.
import { attackAt, randomAt } from './filter-matrix.ts';
import { filterPlaces } from './filter-places.ts';

for (const place of filterPlaces) {
  const attacked = await attackAt(place, { each: 20 });
  const random = await randomAt(place, 100);
  const line = {
    ...{ kind: place.kind, place: place.name, shown: attacked.shown },
    ...{ attacks: attacked.breaches.length, random: random.breaches.length },
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
