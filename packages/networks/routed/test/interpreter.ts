import fs from 'node:fs';
import type { NftChain, NftElement, NftSet, NftValue } from '@podwire/backend-linux/resources';
import type { Resource } from '@podwire/engine';
import { describeRule } from '@podwire/nftables';
import { CommandError, type TestNamespace } from '@podwire/testkit';

/** Where a list of resources is made real: `host` and `pod` of its items. */
export interface Places {
  readonly host: TestNamespace;
  /** Only for lists that speak of a pod. */
  readonly pod?: TestNamespace;
}

/**
 * Makes planned resources real with iproute2, nft and conntrack, one after the other in their order. The simplest thing that
 * can prove a plan by packets without the engine.
 */
export async function applyByCommands(resources: readonly Resource[], places: Places): Promise<void> {
  for (const resource of resources) await applyOne(resource, places);
}

async function applyOne(resource: Resource, places: Places): Promise<void> {
  const place = 'in' in resource && resource.in === 'pod' ? podOf(places) : places.host;
  switch (resource.kind) {
    case 'sysctl':
      return place.inside(() => fs.writeFileSync(`/proc/sys/${resource.key}`, resource.value));
    case 'token-bucket':
    case 'ingress-redirect':
      return runAll(place, trafficControl(resource));
    case 'rule':
      return runAll(place, [ruleCommand(resource)]);
    case 'nft-table':
      return nft(place, `table ${resource.family} ${resource.name} {\n${resource.body}\n}\n`);
    case 'nft-own-table':
      return nft(place, `add table ${resource.family} ${resource.name}\n`);
    case 'nft-set':
      return nft(place, setCommand(resource));
    case 'nft-chain':
      return nft(place, chainCommands(resource));
    case 'nft-element':
      return nft(place, elementCommand(resource));
    case 'forwarding-entry':
      return runAll(place, [forwardingCommand(resource)]);
    case 'conntrack-reset':
      return resetConntrack(place, resource);
    case 'link-feature':
      throw new Error('the routed model leaves the features of links as they are');
    case 'neighbour-answers':
      throw new Error('the gateway of the routed model needs no answer');
    case 'uplink-moved':
      throw new Error('the routed model leaves the uplink as it is');
    case 'forward-accept':
      throw new Error('there is no iptables here');
    default:
      return place.ip(...ipCommands(resource, places));
  }
}

function podOf({ pod }: Places): TestNamespace {
  if (pod === undefined) throw new Error('this list needs a pod');
  return pod;
}

type BatchedKind =
  'veth' | 'ifb' | 'vxlan' | 'link-up' | 'link-ready' | 'link-local-mode' | 'address' | 'neighbour' | 'route';

function ipCommands(resource: Resource & { kind: BatchedKind }, places: Places): string[] {
  switch (resource.kind) {
    case 'veth': {
      const { host, pod, mtu } = resource;
      const peer = `peer name ${pod.name} address ${pod.mac} mtu ${mtu} netns ${podOf(places).name}`;
      return [`link add ${host.name} address ${host.mac} mtu ${mtu} type veth ${peer}`];
    }
    case 'ifb':
      return [`link add ${resource.name} mtu ${resource.mtu} type ifb`, `link set ${resource.name} up`];
    case 'vxlan': {
      const { name, mac, id, port, local, underlay, mtu } = resource;
      const kind = `type vxlan id ${id} dstport ${port} local ${local}${option('dev', underlay)} nolearning`;
      return [`link add ${name} address ${mac} mtu ${mtu} ${kind}`];
    }
    case 'link-up':
      return [`link set ${resource.link} up`];
    case 'link-ready':
      return [`link show dev ${resource.link}`];
    case 'link-local-mode':
      return [`link set ${resource.link} addrgenmode ${resource.mode === 'manual' ? 'none' : 'eui64'}`];
    case 'address': {
      const flags = resource.address.includes(':') ? ' nodad' : '';
      return [`addr add ${resource.address} dev ${resource.link}${option('scope', resource.scope)}${flags}`];
    }
    case 'neighbour':
      return [`neigh replace ${resource.address} lladdr ${resource.mac} nud permanent dev ${resource.link}`];
    case 'route':
      return [routeCommand(resource)];
  }
}

const option = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : ` ${name} ${value}`;

function routeCommand(route: Resource & { kind: 'route' }): string {
  return [
    `route add ${route.type ?? 'unicast'} ${route.destination}`,
    option('via', route.gateway),
    option('dev', route.link),
    option('scope', route.scope),
    option('metric', route.metric),
    option('table', route.table),
    option('mtu', route.mtu),
    route.onlink === true ? ' onlink' : '',
  ].join('');
}

/** Not in a batch: `ip rule` does not take the family from the address. */
function ruleCommand({ from, table, priority }: Resource & { kind: 'rule' }): string[] {
  const family = from.includes(':') ? '-6' : '-4';
  return ['ip', family, 'rule', 'add', 'from', from, 'lookup', `${table}`, 'priority', `${priority}`];
}

function forwardingCommand({ mac, link, remote }: Resource & { kind: 'forwarding-entry' }): string[] {
  return ['bridge', 'fdb', 'replace', mac, 'dev', link, 'dst', remote, 'self', 'permanent'];
}

function trafficControl(resource: Resource & { kind: 'token-bucket' | 'ingress-redirect' }): string[][] {
  const device = ['dev', resource.link];
  if (resource.kind === 'token-bucket') {
    const { rate, burst, limit } = resource;
    const bucket = ['rate', `${rate}bit`, 'burst', `${burst}`, 'limit', `${limit}`];
    return [['tc', 'qdisc', 'add', ...device, 'root', 'tbf', ...bucket]];
  }
  const everything = 'protocol all parent ffff: u32 match u32 0 0'.split(' ');
  const redirect = ['action', 'mirred', 'egress', 'redirect', 'dev', resource.target];
  return [
    ['tc', 'qdisc', 'add', ...device, 'ingress'],
    ['tc', 'filter', 'add', ...device, ...everything, ...redirect],
  ];
}

async function runAll(place: TestNamespace, commands: readonly string[][]): Promise<void> {
  for (const command of commands) await place.run(command);
}

async function nft(place: TestNamespace, script: string): Promise<void> {
  await place.run(['nft', '-f', '-'], { input: script });
}

function setCommand({ family, table, set }: NftSet): string {
  const { name, key, data, interval } = set;
  const types =
    key.join(' . ') + (data === undefined ? '' : ` : ${data === 'verdict' ? data : data.join(' . ')}`);
  const kind = data === undefined ? 'set' : 'map';
  return `add ${kind} ${family} ${table} ${name} { type ${types};${interval === true ? ' flags interval;' : ''} }\n`;
}

function chainCommands({ family, table, chain }: NftChain): string {
  const place = `${family} ${table} ${chain.name}`;
  const { base } = chain;
  const hook =
    base === undefined
      ? ''
      : ` { type ${base.type} hook ${base.hook} priority ${base.priority}; policy ${base.policy ?? 'accept'}; }`;
  const rules = chain.rules.map((rule) => `add rule ${place} ${describeRule(rule)}\n`);
  return [`add chain ${place}${hook}\n`, ...rules].join('');
}

function elementCommand({ family, table, set, key, value, chain }: NftElement): string {
  const joined = (values: readonly NftValue[]): string => values.map((one) => String(one.value)).join(' . ');
  const content = chain === undefined ? value && joined(value) : `goto ${chain}`;
  const data = content === undefined ? '' : ` : ${content}`;
  return `add element ${family} ${table} ${set} { ${joined(key)}${data} }\n`;
}

async function resetConntrack(
  place: TestNamespace,
  reset: Resource & { kind: 'conntrack-reset' },
): Promise<void> {
  const family = reset.family === 4 ? 'ipv4' : 'ipv6';
  const match = [
    ...(reset.address === undefined ? [] : ['--orig-dst', reset.address]),
    ...(reset.port === undefined ? [] : ['--orig-port-dst', String(reset.port)]),
  ];
  try {
    await place.run(['conntrack', '-D', '-f', family, '-p', reset.protocol, ...match]);
  } catch (error) {
    // Exit code 1 also means that there was nothing to delete.
    if (!(error instanceof CommandError) || !error.stderr.includes('0 flow entries')) throw error;
  }
}
