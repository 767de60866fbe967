import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ComplianceTarget, testCompliance } from '@podwire/cri/compliance';
import { busyboxImage } from '@podwire/testkit/containerd';
import { createSandboxHost } from './support/harness.js';

async function open(): Promise<ComplianceTarget> {
  const machine = await createSandboxHost({ name: 'cmp' });
  const directory = path.join(machine.host.directory, 'compliance');
  fs.mkdirSync(directory);
  return { runtime: machine.cri, image: busyboxImage, directory, close: () => machine.close() };
}

testCompliance({ describe, test, before, after }, { name: 'the sandbox service', open });
