/** Resources of another backend are shown like all others. */
import { createKindRegistry, type Kind, type Resource } from '@podwire/engine';
import { linuxKinds } from '@podwire/backend-linux';
import { createColors } from 'picocolors';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../src/api/shapes.js';
import { describeWith, resourceWords } from '../../src/render/resource-words.js';
import { renderExplained, renderResources } from '../../src/render/resources.js';
import { renderTrace } from '../../src/render/trace.js';

interface Flow {
  readonly kind: 'flow';
  readonly match: string;
}

const flowKind: Kind<Flow> = {
  ...{ kind: 'flow', backend: 'openflow', batch: 'flows' },
  ...{ inPlace: true, check: () => undefined, compare: () => undefined },
  place: () => 'br-int',
  key: ({ match }) => `flow ${match}`,
  describe: ({ match }) => `flow for ${match}`,
};
const flow = { kind: 'flow', match: 'in_port=1' } as unknown as Resource;
const unknown = { kind: 'later' } as unknown as Resource;
const veth = {
  ...{ kind: 'veth', mtu: 1500 },
  host: { name: 'cali1', mac: 'ee:ee:ee:ee:ee:ee' },
  pod: { name: 'eth0', mac: '02:00:00:00:00:01' },
} as const satisfies Resource;
const address = { kind: 'address', in: 'pod', link: 'eth0', address: '10.0.0.1/32' } as const;

const words = describeWith(createKindRegistry([...Object.values(linuxKinds), flowKind]));
const plain = createColors(false);

test('lists have resources of every backend, with their places', () => {
  const lines = renderResources([veth, address, flow, unknown], plain, 80, words);
  expect(lines.slice(1).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['node+pod', 'veth cali1 to eth0 in pod, MTU 1500'.replace(/ in pod$/, '')],
    ['pod', 'address 10.0.0.1/32 on eth0'],
    ['br-int', 'flow for in_port=1'],
    ['node', 'later'],
  ]);
});

test('an explanation has them', () => {
  const [, line] = renderExplained([{ resource: flow, state: 'ok' }], plain, 80, words);
  expect(line).toMatch(/^✓ +br-int +flow for in_port=1 +as planned$/);
});

test('a trace has them', () => {
  const trace: Trace = {
    ...{ id: 1, command: 'ADD', endpoint: 'n,c,eth0', startedAt: 0, duration: 2, result: 'ok' },
    stages: [{ name: 'apply', start: 0, duration: 2 }],
    resources: [flow, unknown].map((resource, start) => ({
      ...{ resource, action: 'apply', start, duration: 1, batch: start },
    })),
  };
  const lines = renderTrace(trace, { width: 60, full: true, words }, plain);
  expect(lines.join('\n')).toMatch(/flow for in_port=1[^]*later/);
});

describe('where no backend is registered for it', () => {
  test('a resource is called by its kind', () => {
    expect(resourceWords.describe(unknown)).toBe('later');
    expect(resourceWords.placeOf(unknown)).toBe('node');
  });
});
