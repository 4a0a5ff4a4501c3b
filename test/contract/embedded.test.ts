// The API suite over the embedded service: one store for the file, new projects for each test.
import { afterAll, beforeAll } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { newProjects } from './service-projects.ts';
import { describeService } from './service-suite.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let backend: EmbeddedBackend;

beforeAll(async () => {
  directory = await temporaryDirectory();
  backend = await openEmbedded(directory.path);
});

afterAll(async () => {
  await backend.close();
  await directory.remove();
});

describeService('embedded', async () => ({
  backend,
  ...(await newProjects(backend)),
  close: async () => {},
}));
