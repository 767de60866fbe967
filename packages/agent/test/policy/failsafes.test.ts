import { expect, test } from 'vitest';
import { withStorePorts } from '../../src/policy/inputs/failsafes.js';

const config = { failsafeOutbound: [{ protocol: 'tcp', port: 2379 }] } as const;

test.each<[string, object | undefined, readonly number[]]>([
  ['a node that is alone', undefined, [2379]],
  ['an embedded store', { kind: 'embedded', directory: '/x' }, [2379]],
  ['etcd where it usually is', { endpoints: ['http://10.0.0.1:2379'] }, [2379]],
  [
    'etcd elsewhere',
    { endpoints: ['https://a:12379', 'https://b:12379', 'https://[fd00::1]'] },
    [2379, 12379, 443],
  ],
])('%s', (_, store, ports) => {
  expect(withStorePorts(config, store).failsafeOutbound.map(({ port }) => port)).toEqual(ports);
});
