/** The API, the records, the host's kernel and the pods' kernels must agree on the endpoints. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { openNamespace } from '@podwire/linux';
import {
  type Link,
  listAddresses,
  listLinks,
  listRoutes,
  type NetlinkConnection,
  openRouteConnection,
} from '@podwire/netlink';
import type { Agent, PrivateHost, TestNamespace } from '@podwire/testkit';
import type { AgentApi, ApiEndpoint } from './api.js';
import { isMarkedForDeletion } from './fault-host.js';

export interface Census {
  /** The endpoints, once all agree. @throws AssertionError with what does not */
  take(): Promise<readonly ApiEndpoint[]>;
  /** Names of links that are off the network and wait to be deleted. */
  marked(): string[];
}

/** Reads the kernel over netlink, since this is asked thousands of times; programs look in between. */
export function openCensus(
  host: PrivateHost,
  agent: Pick<Agent, 'stateDirectory'>,
  api: AgentApi,
  pods: readonly TestNamespace[],
): Census {
  const node = connect(host, host.namespace);
  const inside = pods.map((pod) => connect(host, pod));
  return {
    marked: () =>
      listLinks(node)
        .filter(({ group }) => isMarkedForDeletion(group ?? 0))
        .map(({ name }) => name),
    async take() {
      const endpoints = await api.endpoints();
      assert.deepEqual(
        [...new Set(endpoints.map(({ phase }) => phase))].filter((phase) => phase !== 'ready'),
        [],
      );
      assertSame('leases', ownersInApi(await api.leases()), ownersOf(endpoints));
      assertSame(
        'records',
        recordsIn(agent.stateDirectory),
        endpoints.map(({ key }) => `${key}.ready`),
      );
      assertSame('routes of the host', routesToPods(node), routesOf(endpoints));
      assertSame('addresses of the pods', inside.flatMap(addressesInside), addressesOf(endpoints, pods));
      return endpoints;
    },
  };
}

function connect(host: PrivateHost, { path: file }: TestNamespace): NetlinkConnection {
  const namespace = openNamespace(file);
  const connection = openRouteConnection({ namespace: namespace });
  host.defer(() => {
    connection.close();
    namespace.close();
  });
  return connection;
}

/** Lists, not sets: an address that is there twice is a difference. */
function assertSame(what: string, found: readonly string[], expected: readonly string[]): void {
  assert.deepEqual(found.toSorted(), expected.toSorted(), what);
}

const ownersInApi = (leases: readonly { address: string; owner: string }[]): string[] =>
  leases.map(({ address, owner }) => `${address} ${owner}`);
const ownersOf = (endpoints: readonly ApiEndpoint[]): string[] =>
  endpoints.flatMap(({ addresses, key }) => addresses.map((address) => `${address} ${key}`));

const recordsIn = (stateDirectory: string): string[] =>
  fs.readdirSync(path.join(stateDirectory, 'endpoints'));

const prefixOf = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;

/** Main table: the kernel itself keeps routes to the node's own addresses in the local one. */
const mainTable = 254;
const podwire = 157;

function routesToPods(connection: NetlinkConnection): string[] {
  const names = new Map(listLinks(connection).map(({ index, name }) => [index, name]));
  return listRoutes(connection, { protocol: podwire })
    .filter(({ type, table }) => type === 'unicast' && table === mainTable)
    .map(({ destination, link }) => `${destination} ${names.get(link ?? 0)}`);
}

const routesOf = (endpoints: readonly ApiEndpoint[]): string[] =>
  endpoints.flatMap(({ addresses, hostInterface }) =>
    addresses.map((address) => `${prefixOf(address)} ${hostInterface}`),
  );

/** Of the links that count: not `lo`, and not what dies with its other end. */
function addressesInside(connection: NetlinkConnection, pod: number): string[] {
  const living = listLinks(connection).filter(({ name }) => name === 'eth0');
  return living.flatMap((link: Link) =>
    listAddresses(connection, { link: link.index })
      .filter(({ scope }) => scope === 'global')
      .map(({ address }) => `${address.replace(/\/.*/, '')} in pod ${pod}`),
  );
}

function addressesOf(endpoints: readonly ApiEndpoint[], pods: readonly TestNamespace[]): string[] {
  return endpoints.flatMap(({ addresses, containerId }) => {
    const pod = Number(containerId.slice(1));
    assert.ok(pod < pods.length, containerId);
    return addresses.map((address) => `${address} in pod ${pod}`);
  });
}
