import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bringLinkUp, SystemError } from '@podwire/linux';
import { createTestNamespace, type TestNamespace } from '@podwire/testkit';

let namespace: TestNamespace;
before(() => {
  namespace = createTestNamespace(`pwt-${process.pid}-flags`);
});
after(() => namespace.delete());

const flagsOf = async (): Promise<string[]> => {
  const [row] = JSON.parse(await namespace.run(['ip', '-j', 'link', 'show', 'dev', 'lo'])) as {
    flags: string[];
  }[];
  return row?.flags ?? [];
};

test('lo comes up, stays up, and keeps its other flags', async () => {
  assert.deepEqual(await flagsOf(), ['LOOPBACK']);
  namespace.inside(() => bringLinkUp('lo'));
  namespace.inside(() => bringLinkUp('lo'));
  assert.deepEqual(await flagsOf(), ['LOOPBACK', 'UP', 'LOWER_UP']);
});

test('a link that is not there', () => {
  assert.throws(
    () => namespace.inside(() => bringLinkUp('eth7')),
    (error: unknown) => {
      assert.ok(error instanceof SystemError);
      assert.match(error.message, /ENODEV/);
      return true;
    },
  );
});
