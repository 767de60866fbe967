import { describe, expect, test } from 'vitest';
import { type AgentConfig, configShape, parseConfig } from '../../src/config/index.js';
import { findChanges } from '../../src/reload/changes.js';
import { type CountPods, liveFields, mergeConfig } from '../../src/reload/merge.js';

const none: CountPods = () => 0;

function reload(
  before: string,
  after: string,
  countPods = none,
): { applied: string[]; waiting: string[]; config: AgentConfig } {
  const [running, wanted] = [parseConfig(before), parseConfig(after)];
  const config = mergeConfig(running, wanted, countPods);
  const paths = (from: AgentConfig, to: AgentConfig): string[] =>
    findChanges(from, to).map(({ path }) => path);
  return { applied: paths(running, config), waiting: paths(config, wanted), config };
}

describe('what a reload takes', () => {
  test('settings that no pod notices', () => {
    const { applied, waiting } = reload(
      'nodeName: a',
      'nodeName: a\nlog: { level: debug }\nreconcileInterval: 5m\ndeadlines: { reconcile: 2m, stop: 1s }\nlimits: { traces: 5 }\nmetrics: { listen: "127.0.0.1:9464" }',
    );
    expect(applied).toEqual([
      'reconcileInterval',
      'metrics.listen',
      'log.level',
      'deadlines.reconcile',
      'deadlines.stop',
      'limits.traces',
    ]);
    expect(waiting).toEqual([]);
  });

  test('what others know by path or name waits', () => {
    const { applied, waiting } = reload(
      'nodeName: a\nsocket: /run/a.sock\ndeadlines: { request: 10s }',
      'nodeName: b\nsocket: /run/b.sock\ndeadlines: { request: 20s, stop: 1s }\ncoolDown: 5s',
    );
    expect(applied).toEqual(['deadlines.stop']);
    expect(waiting).toEqual(['nodeName', 'socket', 'coolDown', 'deadlines.request']);
  });

  test('a new pool and settings of a pool', () => {
    const { applied, waiting, config } = reload(
      'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/16, name: a }] }]',
      'networks: [{ name: n, mtu: 1400, natOutgoing: false, pools: [{ cidr: 10.2.0.0/16, name: b }, { cidr: 10.1.0.0/16, name: a, disabled: true }] }]',
    );
    expect(applied).toEqual([
      'networks[n].pools[a].disabled',
      'networks[n].pools[b]',
      'networks[n].natOutgoing',
      'networks[n].mtu',
    ]);
    expect(waiting).toEqual([]);
    expect(config.networks[0]?.pools.map(({ name }) => name)).toEqual(['b', 'a']);
  });

  test('a pool that goes, as long as no pod has an address of it', () => {
    const [before, after] = [
      'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/16 }, { cidr: 10.2.0.0/16 }] }]',
      'networks: [{ name: n, pools: [{ cidr: 10.2.0.0/16 }] }]',
    ];
    expect(reload(before, after)).toMatchObject({ applied: ['networks[n].pools[10.1.0.0/16]'], waiting: [] });
    const used = reload(before, after, (network, pool) =>
      network === 'n' && pool === '10.1.0.0/16' ? 2 : 0,
    );
    expect(used).toMatchObject({ applied: [], waiting: ['networks[n].pools[10.1.0.0/16]'] });
  });

  test('how a pool is cut, and another network, wait', () => {
    const { applied, waiting } = reload(
      'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/16, name: a }] }]',
      'networks: [{ name: n, pools: [{ cidr: 10.9.0.0/16, name: a, blockSize: 24 }] }, { name: m, pools: [{ cidr: 10.3.0.0/16 }] }]',
    );
    expect(applied).toEqual([]);
    expect(waiting).toEqual(['networks[n].pools[a].cidr', 'networks[n].pools[a].blockSize', 'networks[m]']);
  });

  test('a node that joins a cluster waits, with all its networks', () => {
    const { waiting } = reload('nodeName: a', 'nodeName: a\ncluster: { store: { kind: embedded } }');
    expect(waiting).toContain('cluster');
  });

  test('the fields that are called live are keys of the configuration', () => {
    for (const field of liveFields) {
      const found = field.split('.').reduce((node: ReturnType<typeof configShape> | undefined, step) => {
        const next = node?.properties?.[step.replace('[]', '')];
        return step.endsWith('[]') ? next?.items : next;
      }, configShape());
      // A list at the end is meant as a whole.
      expect(found, field).toBeDefined();
    }
  });
});
