import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ComplianceTarget, testCompliance } from '@podwire/cri-compliance';
import { busyboxImage } from '@podwire/testkit/containerd';
import { createSandboxHost } from './support/harness.js';

async function open(): Promise<ComplianceTarget> {
  const machine = await createSandboxHost({ name: 'cmp' });
  const directory = path.join(machine.host.directory, 'compliance');
  fs.mkdirSync(directory);
  // An image of its own, since the ones that tests use stay.
  const removableImage = 'podwire.test/removable:1';
  const [repo, tag] = removableImage.split(':');
  await machine.docker.call('POST', `/images/${busyboxImage}/tag?repo=${repo}&tag=${tag}`);
  return {
    runtime: machine.cri,
    image: busyboxImage,
    removableImage,
    directory,
    close: () => machine.close(),
  };
}

testCompliance(
  { describe, test, before, after },
  {
    name: 'the sandbox service',
    // The same sandbox asked for again is the answer again: a caller that has lost it must not be told "name is reserved".
    lacks: ['unique names'],
    open,
  },
);
