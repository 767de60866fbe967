import type { OvnPodRecord } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { expect, it, onTestFinished } from 'vitest';
import { AnnotationWriter } from '../../src/ovn/kubernetes/annotation-writer.js';
import { ClusterView } from '../../src/ovn/kubernetes/cluster-view.js';
import { readPod } from '../../src/ovn/kubernetes/read-objects.js';
import { podObject } from '../kubernetes-cluster.js';

const prefix = 'ovn.kubernetes.io/';
const answer = {
  [`${prefix}logical_switch`]: 'blue',
  [`${prefix}ip_address`]: '10.17.0.5',
  [`${prefix}mac_address`]: '0a:00:00:00:00:05',
  [`${prefix}allocated`]: 'true',
};
const record = (name: string): [string, OvnPodRecord] => [
  `shop/${name}`,
  { ...{ namespace: 'shop', name, uid: `${name}-1`, node: 'n1', annotations: answer } },
];

/** With pods of these names, whose patches fail while their names are in `broken`. */
function startWriter(...names: string[]) {
  const view = new ClusterView();
  const pods = names.map((name) => {
    const { metadata, ...rest } = podObject(name);
    return [`${name}-1`, readPod({ ...rest, metadata: { ...metadata, resourceVersion: '1' } })] as const;
  });
  view.updatePods(new Map(pods));
  const broken = new Set<string>();
  const [lines, patched]: [string[], string[]] = [[], []];
  const writer = new AnnotationWriter({
    ...{ view, clock: systemClock },
    client: {
      request: (_, path) => {
        const name = path.slice(path.lastIndexOf('/') + 1);
        patched.push(name);
        return broken.has(name) ? Promise.reject(new Error('refused')) : Promise.resolve({} as never);
      },
    },
    log: { ...silentLog, info: () => void lines.push('again'), warn: () => void lines.push('trouble') },
  });
  onTestFinished(() => writer.stop());
  return { writer, broken, lines, patched };
}

it('says once that pods cannot be written, and not that it is over while one of them fails', async () => {
  const { writer, broken, lines, patched } = startWriter('bad', 'good');
  broken.add('bad');
  writer.notePods(new Map([record('bad')]));
  await expect.poll(() => lines).toEqual(['trouble']);
  writer.notePods(new Map([record('good')]));
  await expect.poll(() => patched.filter((name) => name === 'bad').length, { timeout: 5_000 }).toBe(2);
  expect(lines).toEqual(['trouble']);
  broken.clear();
  await expect.poll(() => lines, { timeout: 8_000 }).toEqual(['trouble', 'again']);
}, 20_000);

it('says that it is over when the pod is gone that failed', async () => {
  const { writer, broken, lines } = startWriter('bad');
  broken.add('bad');
  writer.notePods(new Map([record('bad')]));
  await expect.poll(() => lines).toEqual(['trouble']);
  writer.notePods(new Map([['shop/bad', undefined]]));
  await expect.poll(() => lines, { timeout: 5_000 }).toEqual(['trouble', 'again']);
}, 10_000);
