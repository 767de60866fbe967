/** A node and a pod on a kernel, fake or real, for the compliance suite of backends. */
import {
  addRouteRequest,
  createLinkRequest,
  deleteLinkRequest,
  getLinkRequest,
  decodeLink,
} from '@podwire/netlink';
import type { BackendSubject, ExchangeLists } from '@podwire/engine/compliance';
import type { NamespaceIdentity, Owned, Resource } from '@podwire/engine';
import { nodeResources, podResources, portElement } from '../src/fake/index.js';
import type { BaseChain, Statement } from '@podwire/nftables';
import { createLinuxBackends, createUplinkBackend, type Kernel, type NftSet } from '../src/index.js';
import { entryKey } from '../src/keys.js';

const place = { family: 'inet', table: 'podwire-rules' } as const;
const ownTable: Resource = { kind: 'nft-own-table', family: 'inet', name: 'podwire-rules' };

const setOf = (name: string, set: Omit<NftSet['set'], 'name'> = { key: ['ipv4_addr'] }): Resource => ({
  ...{ kind: 'nft-set', ...place },
  set: { name, ...set },
});

const chainOf = (name: string, statements: readonly Statement[], base?: BaseChain): Resource => ({
  ...{ kind: 'nft-chain', ...place },
  chain: { name, ...(base === undefined ? {} : { base }), rules: [{ statements, comment: name }] },
});

const address = (set: string, value: string): Resource => ({
  ...{ kind: 'nft-element', ...place, set },
  key: [{ type: 'ipv4_addr', value }],
});

const link = (name: string, chain: string): Resource => ({
  ...{ kind: 'nft-element', ...place, set: 'links', chain },
  key: [{ type: 'ifname', value: name }],
});

const from = (set: string): Statement => ({ is: 'lookup', fields: ['ip saddr'], set });
const forward: BaseChain = { type: 'filter', hook: 'forward', priority: 0 };

/** A policy of a pod: a set, rules that use it, and the way from the pod's link to them. */
const policy: readonly Resource[] = [
  setOf('links', { key: ['ifname'], data: 'verdict' }),
  setOf('peers'),
  chainOf('web', [from('peers'), { is: 'counter' }, { is: 'accept' }]),
  chainOf('main', [{ is: 'vmap', fields: ['iifname'], map: 'links' }], forward),
  address('peers', '10.9.0.7'),
  link('cali1', 'web'),
];

/** Address of the node's end of the veth. */
const near = 'fe80::ecee:eeff:feee:eeee';

/** The kinds that no endpoint of the samples has. */
const others: readonly Resource[] = [
  {
    kind: 'vxlan',
    name: 'pwvx1',
    mac: '66:00:00:00:00:01',
    id: 77,
    port: 4790,
    local: '192.0.2.1',
    mtu: 1400,
  },
  { kind: 'forwarding-entry', in: 'host', link: 'pwvx1', mac: '66:00:00:00:00:09', remote: '192.0.2.9' },
  { kind: 'uplink-moved', in: 'host', from: 'pwshape1', to: 'pwvx1' },
  { kind: 'link-ready', in: 'host', link: 'pwtest1' },
  { kind: 'link-ready', in: 'pod', link: 'eth0' },
  { kind: 'address', in: 'pod', link: 'eth0', address: 'fe80::9/64', scope: 'link' },
  {
    ...{ kind: 'neighbour-answers', in: 'pod', link: 'eth0', address: near },
    after: [entryKey('address', 'pod', 'eth0 fe80::9/64'), entryKey('address', 'host', `pwtest1 ${near}/64`)],
  },
  { kind: 'forward-accept', family: 'ip', chain: 'PODWIRE-FORWARD', links: ['pwtest*'] },
];

/** Chains that lead to each other, whose sets and elements come and go with them. */
const exchange: ExchangeLists = {
  first: [
    setOf('old'),
    setOf('both'),
    chainOf('shared', [from('old'), { is: 'jump', chain: 'later' }]),
    chainOf('later', [from('both'), { is: 'drop' }]),
    address('old', '10.9.0.1'),
    address('both', '10.9.0.2'),
  ],
  second: [
    setOf('new', { key: ['ipv4_addr'], interval: true }),
    setOf('both'),
    chainOf('shared', [from('both'), { is: 'goto', chain: 'other' }]),
    chainOf('other', [from('new'), { is: 'accept' }]),
    address('both', '10.9.0.3'),
    { ...address('new', ''), key: [{ type: 'ipv4_interval', value: '10.9.1.0/24' }] } as Resource,
  ],
  refused: [
    chainOf('shared', [from('both'), { is: 'drop' }]),
    chainOf('other', [{ is: 'jump', chain: 'absent' }]),
  ],
};

export interface SubjectOptions {
  /** Opens the kernel anew. */
  readonly open: () => Kernel;
  readonly namespace: NamespaceIdentity;
  readonly picture: () => unknown;
}

export function createSubject({ open, namespace, picture }: SubjectOptions): BackendSubject {
  const withKernel = (work: (kernel: Kernel) => void): void => {
    const kernel = open();
    try {
      work(kernel);
    } finally {
      kernel.close();
    }
  };
  const owned: Owned = {
    owner: 'endpoint:1',
    namespace,
    resources: [...podResources(1), ...others, ...policy],
  };
  const element = owned.resources.find((resource) => resource.kind === 'nft-element')!;
  return {
    base: { owner: 'node', resources: [...nodeResources, ownTable] },
    owned,
    backends() {
      const kernel = open();
      return [...createLinuxBackends(kernel), createUplinkBackend(kernel)];
    },
    picture,
    exchange,
    replacement: [
      { kind: 'neighbour', in: 'pod', link: 'eth0', address: '169.254.1.1', mac: 'ee:ee:ee:ee:ee:01' },
      {
        kind: 'route',
        in: 'pod',
        link: 'eth0',
        destination: '0.0.0.0/0',
        gateway: '169.254.1.1',
        onlink: true,
      },
      { kind: 'forwarding-entry', in: 'host', link: 'pwvx1', mac: '66:00:00:00:00:09', remote: '192.0.2.8' },
      { kind: 'token-bucket', in: 'host', link: 'pwtest1', rate: 20_000_000, burst: 20_000, limit: 60_000 },
      { kind: 'sysctl', in: 'host', key: 'net/ipv4/conf/pwtest1/route_localnet', value: '0' },
      { kind: 'link-feature', in: 'pod', link: 'eth0', feature: 'tx-checksumming', on: true },
      chainOf('web', [from('peers'), { is: 'drop' }]),
    ],
    many: (count) => Array.from({ length: count }, (_, n) => portElement(n)),
    broken: element,
    // Another program's element in the place of ours; all but it can be made.
    break() {
      const { family, table, set, key } = element;
      const value = [
        { type: 'ipv4_addr', value: '192.0.2.9' },
        { type: 'inet_service', value: 9 },
      ] as const;
      withKernel(({ nftables }) => nftables.change([{ op: 'add', family, table, set, key, value }]));
      return () =>
        withKernel(({ nftables }) => nftables.change([{ op: 'destroy', family, table, set, key }]));
    },
    damage: () =>
      withKernel(({ host, nftables }) => {
        host.route.request([deleteLinkRequest('pwshape1')]);
        const rules = [{ statements: [{ is: 'accept' }] }] as const;
        nftables.transact([{ op: 'put-chain', ...place, chain: { name: 'web', rules } }]);
      }),
    addForeign: () =>
      withKernel(({ host: { route } }) => {
        route.request([createLinkRequest({ kind: 'ifb', name: 'foreign', up: true })]);
        const link = decodeLink(route.request([getLinkRequest('foreign')]).flat()[0]!).index;
        route.request([addRouteRequest({ destination: '10.77.0.1/32', link, scope: 'link' })]);
      }),
    close: () => undefined,
  };
}
