/** Records of other versions: what an upgrade finds, and what a rollback finds. */
import fs from 'node:fs';
import path from 'node:path';
import { linuxRegistry } from '@podwire/backend-linux';
import { expect, test } from 'vitest';
import { openRecordDirectory } from '../../src/records/directory.js';
import { loadRecords } from '../../src/recovery.js';
import { createHarness } from '../fakes/harness.js';
import { makeDirectory } from '../fakes/sockets.js';

/** As version 0.1.0 wrote them: never changed, so that each later version is tested with them. */
const fixtures = path.join(import.meta.dirname, 'v1');

/** @param change of the documents, as another version may have written them */
function directoryWith(change: (record: Record<string, unknown>) => object = (same) => same): string {
  const directory = makeDirectory();
  for (const name of fs.readdirSync(fixtures)) {
    const record = JSON.parse(fs.readFileSync(path.join(fixtures, name), 'utf8')) as Record<string, unknown>;
    fs.writeFileSync(path.join(directory, path.basename(name, '.json')), JSON.stringify(change(record)));
  }
  return directory;
}

test('records of version 1 are read and taken over', () => {
  const store = openRecordDirectory(directoryWith(), linuxRegistry);
  const { records, broken } = store.readAll();
  expect(broken).toEqual([]);
  expect(records).toHaveLength(fs.readdirSync(fixtures).length);
  const { context } = createHarness({ dependencies: { records: store } });
  loadRecords(context);
  expect(context.endpoints.size).toBe(records.length);
});

test('fields that this version does not know outlive it, also when it writes the record again', () => {
  const directory = directoryWith((record) => ({ ...record, later: { kept: true } }));
  const store = openRecordDirectory(directory, linuxRegistry);
  const [record] = store.readAll().records;
  const removing = store.advance(record!, 'removing');
  store.write(removing);
  const [again] = openRecordDirectory(directory, linuxRegistry).readAll().records;
  expect(again).toMatchObject({ phase: 'removing', later: { kept: true } });
});

test('records of a newer version are refused before anything is done, and stay as they are', async () => {
  const directory = directoryWith((record) => ({ ...record, version: 2 }));
  const before = fs.readdirSync(directory).map((name) => fs.readFileSync(path.join(directory, name), 'utf8'));
  const harness = createHarness({ dependencies: { records: openRecordDirectory(directory, linuxRegistry) } });
  await expect(harness.recover()).rejects.toMatchObject({ code: 'RECORD_TOO_NEW' });
  const after = fs.readdirSync(directory).map((name) => fs.readFileSync(path.join(directory, name), 'utf8'));
  expect(after).toEqual(before);
});
