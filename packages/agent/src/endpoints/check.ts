import { compareAddresses, parseAddress } from '@podwire/addresses';
import { type AnyResult, type AttachmentRequest, convertResult } from '@podwire/cni';
import type { Drift } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import { type Call, type EndpointContext, type KernelSide, type NodeSide, ownedBy } from './context.js';
import { describeEndpoint } from './registry.js';
import type { EndpointRecord } from '../records/record.js';
import { endpointIdOf } from './read-request.js';

type CheckContext = Pick<KernelSide, 'engine' | 'namespaces'> &
  Pick<EndpointContext, 'networks' | 'endpoints' | 'locks'>;

/**
 * CHECK (CNI specification 1.1.0, section 2): everything that ADD made is there, the addresses are leased, and the chain's
 * result still names what Podwire answered.
 * @throws PodwireError ENDPOINT_UNKNOWN, ENDPOINT_DRIFTED listing all that is wrong
 */
export async function checkEndpoint(
  context: CheckContext,
  request: AttachmentRequest,
  call: Call,
): Promise<void> {
  const key = endpointKey(endpointIdOf(request));
  call.trace.identify({ endpoint: key });
  call.trace.stage('lock');
  await context.locks.withKey(key, call.signal, async () => {
    const record = context.endpoints.get(key);
    if (record?.phase !== 'ready') throw unknownEndpoint(request);
    call.trace.stage('verify');
    const drifts = await context.engine.verify(ownedBy(record), {
      signal: call.signal,
      trace: call.trace.resources(),
    });
    const wrong = [
      ...compareNamespace(context, record, request.netns),
      ...compareLeases(context, record),
      ...comparePrevResult(record, request.prevResult),
      ...drifts.map(describeDrift),
    ];
    if (wrong.length > 0) throw drifted(record, wrong);
  });
  call.trace.stage('answer');
  await call.answer('');
}

function unknownEndpoint({ containerId, interfaceName, config }: AttachmentRequest): PodwireError {
  const message = `container ${containerId} has no interface ${interfaceName} of network ${config.name} on this node`;
  return new PodwireError('ENDPOINT_UNKNOWN', message, { action: 'ADD it again.' });
}

function drifted(record: EndpointRecord, wrong: readonly string[]): PodwireError {
  return new PodwireError('ENDPOINT_DRIFTED', `${describeEndpoint(record)}: ${wrong.join('; ')}`, {
    details: { drift: wrong },
  });
}

/** A drift in one line: what it is about, and what was found. */
export function describeDrift({ resource, state, detail }: Drift): string {
  return `${resource.kind} ${state}: ${detail}`;
}

function compareNamespace(
  { namespaces }: Pick<KernelSide, 'namespaces'>,
  record: EndpointRecord,
  netns: string,
): string[] {
  const now = namespaces.identify(netns, { allowOwn: true });
  const { device, inode, path } = record.namespace;
  return now.device === device && now.inode === inode
    ? []
    : [`${netns} is not the namespace of ADD (${path})`];
}

function compareLeases({ networks }: Pick<NodeSide, 'networks'>, record: EndpointRecord): string[] {
  const key = endpointKey(record.id);
  const held = networks.flatMap(({ ipam }) => ipam.leases().filter((lease) => lease.owner === key));
  return record.leases
    .filter(({ address }) => !held.some((lease) => lease.address === address))
    .map(({ address }) => `the address ${address} is not leased to it`);
}

/** The result must still contain Podwire's answer; later plugins may have added to it. */
function comparePrevResult(record: EndpointRecord, prevResult: AnyResult | undefined): string[] {
  if (prevResult === undefined) {
    throw new PodwireError(
      'CONFIG_INVALID',
      'prevResult: CHECK needs the result of ADD (CNI specification, section 2)',
    );
  }
  const now = convertResult(prevResult);
  const answer = record.answer;
  const addresses = (answer.ips ?? []).filter(
    ({ address }) => !(now.ips ?? []).some((ip) => sameCidr(ip.address, address)),
  );
  const interfaces = (answer.interfaces ?? []).filter(
    ({ name, sandbox }) =>
      !(now.interfaces ?? []).some((other) => other.name === name && other.sandbox === sandbox),
  );
  return [
    ...addresses.map(({ address }) => `prevResult lacks the address ${address}`),
    // Results of 0.2.0 have no interfaces.
    ...(now.interfaces === undefined
      ? []
      : interfaces.map(({ name }) => `prevResult lacks the interface ${name}`)),
  ];
}

function sameCidr(a: string, b: string): boolean {
  const [left, right] = [a.split('/'), b.split('/')];
  return left[1] === right[1] && compareAddresses(parseAddress(left[0]!), parseAddress(right[0]!)) === 0;
}
