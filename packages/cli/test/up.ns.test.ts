/** `podwire up` that does not come up: what it has started is not left behind. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { isAlive, type ProcessMark } from '@podwire/linux';
import { CommandError, createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { checkoutFile } from '../src/checkout.js';
import { placesIn } from '../src/pods/locate.js';

let host: PrivateHost;
before(async () => {
  host = await createPrivateHost({ name: 'up', world: true });
});
after(() => host?.close());

test('without a pod agent, the node agent that was started for it is ended', async () => {
  const directory = path.join(host.directory, 'pods');
  const places = placesIn(directory);
  // Nobody can listen there.
  fs.mkdirSync(path.join(places.podSocket, 'x'), { recursive: true });
  const argv = ['up', checkoutFile('examples/web.yaml'), '--directory', directory];
  await assert.rejects(host.run([process.execPath, checkoutFile('bin/podwire'), ...argv]), (error) => {
    assert.ok(error instanceof CommandError);
    assert.match(error.stderr, /✓ node agent started[^]*the pod agent did not start/);
    return true;
  });
  const { agent } = JSON.parse(fs.readFileSync(places.started, 'utf8')) as { agent: ProcessMark };
  assert.equal(isAlive(agent), false);
});
