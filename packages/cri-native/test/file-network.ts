/** A pod network whose addresses are files: it outlives the process, so that what leaks is seen. */
import fs from 'node:fs';
import path from 'node:path';
import type { PodNetwork } from '@podwire/pod-network';

export function createFileNetwork(directory: string): PodNetwork {
  const file = (sandboxId: string): string => path.join(directory, sandboxId);
  const read = (sandboxId: string): readonly string[] | undefined =>
    fs.existsSync(file(sandboxId)) ? [fs.readFileSync(file(sandboxId), 'utf8')] : undefined;
  return {
    setUp: (pod) => {
      const address = `10.1.0.${fs.readdirSync(directory).length + 2}`;
      fs.writeFileSync(file(pod.sandboxId), address);
      return Promise.resolve({ addresses: [address], network: 'files' });
    },
    tearDown: ({ sandboxId }) => {
      fs.rmSync(file(sandboxId), { force: true });
      return Promise.resolve();
    },
    addresses: (sandboxId) => Promise.resolve(read(sandboxId)),
    status: () => ({ ready: true, reason: '', message: '' }),
    explain: () => Promise.reject(new Error('nothing to explain')),
    setPodCidrs: () => undefined,
    collectGarbage: (live) => {
      for (const name of fs.readdirSync(directory)) if (!live.includes(name)) fs.rmSync(file(name));
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}
