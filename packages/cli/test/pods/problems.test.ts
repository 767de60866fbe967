import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { placesIn } from '../../src/pods/locate.js';
import { requirePresent, summarizeProblems } from '../../src/pods/problems.js';
import { run, startFakeAgent, writeTemporary } from '../support.js';

const problem = (origin: string, line: number) => ({
  source: 'file' as const,
  ...{ origin, line, column: 3, document: 2, field: 'spec.containers', message: 'is missing' },
});

describe('problems of manifests', () => {
  test('name line, column, document and field', () => {
    expect(summarizeProblems([problem('/web.yaml', 7)])).toEqual([
      '/web.yaml:7:3 (document 2): spec.containers: is missing',
    ]);
  });

  test('many are one line above a table', () => {
    const many = [1, 2, 3, 4].map((line) => problem('/web.yaml', line));
    expect(summarizeProblems(many)).toEqual(['4 problems in a manifest: `podwire ps --problems` lists them']);
    expect(summarizeProblems([...many, problem('/db.yaml', 1)])).toEqual([
      '5 problems in 2 manifests: `podwire ps --problems` lists them',
    ]);
  });

  test('ps --problems lists them all, and fails', async () => {
    const problems = [1, 2, 3, 4].map((line) => problem('/web.yaml', line));
    const agent = await startFakeAgent({ 'GET /v1/pods': { body: { pods: [], problems } } });
    const directory = path.dirname(agent.socket);
    fs.renameSync(agent.socket, placesIn(directory).podSocket);
    const few = await run(['ps', '--directory', directory]);
    const all = await run(['ps', '--problems', '--directory', directory]);
    await agent.close();
    expect(few.stderr).toContain('4 problems in a manifest');
    expect(all.code).toBe(4);
    expect(all.stdout.split('\n')).toContain('/web.yaml:4:3 (document 2): spec.containers: is missing');
  });

  test('a path that was never there is refused before anything is started', async () => {
    const file = writeTemporary('web.yaml', '');
    expect(() => requirePresent([file])).not.toThrow();
    const { code, stderr } = await run(['up', file, '/nowhere/a.yaml', '/nowhere/b']);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: /nowhere/a.yaml: does not exist\n       /nowhere/b: does not exist\ncode: MANIFEST_INVALID\n',
    );
  });
});
