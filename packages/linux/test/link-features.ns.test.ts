import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hasCode, readLinkFeature, switchLinkFeature } from '@podwire/linux';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';

let namespace: TestNamespace;
before(async () => {
  namespace = createTestNamespace(`pwt-${process.pid}-features`);
  await namespace.ip('link add v0 type veth peer name v1');
});
after(() => namespace.delete());

const read = (link: string): boolean => namespace.inside(() => readLinkFeature(link, 'tx-checksumming'));
const turn = (link: string, on: boolean): void =>
  namespace.inside(() => switchLinkFeature(link, 'tx-checksumming', on));

test('checksumming of a link goes off and on', () => {
  assert.equal(read('v0'), true);
  turn('v0', false);
  assert.equal(read('v0'), false);
  assert.equal(read('v1'), true);
  turn('v0', true);
  assert.equal(read('v0'), true);
});

test('a link that is not there has no features', () => {
  assert.throws(
    () => read('v7'),
    (error: unknown) => hasCode(error, 'ENODEV'),
  );
  assert.throws(
    () => turn('v7', false),
    (error: unknown) => hasCode(error, 'ENODEV'),
  );
});

test('a link that cannot leave checksums to others says so', () => {
  assert.throws(
    () => turn('lo', false),
    (error: unknown) => hasCode(error, 'EOPNOTSUPP'),
  );
});
