/** RTM_GETROUTE for one destination: which route a packet would take, by the rules. */
import { type Address, containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import { Attributes, readStructure } from '../attributes.js';
import type { NetlinkMessage } from '../connection.js';
import { decodeIp } from '../ip-address.js';
import * as rt from '../route-attributes.js';
import type { Route } from '../route-decoder.js';
import type { Rule } from '../rule.js';
import { FakeErrno } from './errno.js';
import { encodeRoute } from './routes.js';
import type { FakeContext, NamespaceState } from './state.js';

interface Packet {
  readonly destination: Address;
  readonly source: Address | undefined;
  readonly mark: number;
}

export function lookUpRoute({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const bytes = readStructure(message.payload, rt.RTMSG, 'rtmsg');
  const attributes = new Attributes(bytes, rt.RTMSG);
  const destination = attributes.bytes(rt.RTA_DST);
  if (destination === undefined) throw new FakeErrno('EINVAL');
  const source = attributes.bytes(rt.RTA_SRC);
  const packet = {
    destination: parseAddress(decodeIp(destination)),
    source: source === undefined ? undefined : parseAddress(decodeIp(source)),
    mark: attributes.u32(rt.RTA_MARK) ?? 0,
  };
  const route = decide(namespace, packet);
  return [encodeRoute({ ...route, destination: `${decodeIp(destination)}/${8 * destination.length}` })];
}

const refusals: Partial<Record<string, string>> = {
  blackhole: 'EINVAL',
  unreachable: 'EHOSTUNREACH',
  prohibit: 'EACCES',
};

function decide(namespace: NamespaceState, packet: Packet): Route {
  const rules = namespace.rules
    .filter((rule) => applies(rule, packet))
    .sort((a, b) => a.priority - b.priority);
  for (const rule of rules) {
    const route = mostSpecific(namespace, rule.table, packet.destination);
    if (route === undefined || route.type === 'throw') continue;
    const refusal = refusals[route.type];
    if (refusal !== undefined) throw new FakeErrno(refusal);
    return route;
  }
  throw new FakeErrno('ENETUNREACH');
}

function applies(rule: Rule, { destination, source, mark }: Packet): boolean {
  const within = (prefix: string | undefined, address: Address | undefined) =>
    prefix === undefined || (address !== undefined && containsAddress(parsePrefix(prefix), address));
  return (
    rule.family === destination.family &&
    rule.action === 'table' &&
    within(rule.to, destination) &&
    within(rule.from, source) &&
    (rule.mark === undefined || rule.mark === (mark & (rule.markMask ?? 0xffffffff)))
  );
}

function mostSpecific(namespace: NamespaceState, table: number, address: Address): Route | undefined {
  const length = (route: Route) => parsePrefix(route.destination).length;
  return namespace.routes
    .filter((route) => route.table === table && containsAddress(parsePrefix(route.destination), address))
    .sort((a, b) => length(b) - length(a) || (a.metric ?? 0) - (b.metric ?? 0))[0];
}
