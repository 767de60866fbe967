/** Answers of agents, as they come. */
import type { EndpointView, NodeAnswers, StatusAnswer } from '../src/answers.js';
import type { Wording } from '../src/sources.js';

export const wording: Wording = {
  describePod: ({ status }) => ({ level: 'good', state: status.phase, reason: '' }),
  describeProblem: ({ message }) => message,
  describeResource: (resource) => `${resource.kind} x`,
  placeOf: (resource) => ('in' in resource && resource.in === 'pod' ? 'pod' : 'node'),
};

export function statusOf(changes: Partial<StatusAnswer> = {}): StatusAnswer {
  return {
    ...{ node: 'n1', version: '0.1.0', startedAt: '2026-11-23T08:00:00Z', ready: true, problem: null },
    ...{ recordProblems: [], problems: [], networks: [], endpoints: { ready: 1, wiring: 0, removing: 0 } },
    ...{ memory: { rss: 80 << 20 }, lastReconcile: null, cluster: null },
    ...changes,
  };
}

export function answersOf(changes: Partial<NodeAnswers> = {}): NodeAnswers {
  return {
    ...{
      name: 'n1',
      status: statusOf(),
      failure: '',
      endpoints: [],
      ipam: undefined,
      peers: [],
      sessions: [],
    },
    ...{ traces: [], pods: undefined, podProblems: [] },
    ...changes,
  };
}

export function endpointOf(changes: Partial<EndpointView> = {}): EndpointView {
  return {
    ...{
      key: 'podwire,abc,eth0',
      containerId: 'abc',
      ifName: 'eth0',
      network: 'default',
      cniNetwork: 'podwire',
    },
    ...{ pod: { namespace: 'shop', name: 'web', uid: 'u1' }, phase: 'ready', addresses: ['10.244.0.5'] },
    ...{ mac: '02:00:00:00:00:05', hostInterface: 'cali0123', netns: '/run/netns/x', portMappings: [] },
    createdAt: '2026-11-23T08:00:01Z',
    ...changes,
  };
}
