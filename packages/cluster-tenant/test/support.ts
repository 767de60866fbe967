/** A cluster without a store: requests are planned, and their changes made at once. */
import type { PodwireError } from '@podwire/errors';
import { calls, Cluster, type Endpoint, objectKinds, planDelete, planStart } from '../src/index.js';

export type Fields = Readonly<Record<string, unknown>>;

export class Bench {
  readonly cluster = new Cluster();

  constructor() {
    this.cluster.apply(planStart(this.cluster, {}).changes);
  }

  put(plural: string, key: string, body: unknown): Fields {
    const { changes, answer } = objectKinds.get(plural)!.planPut(this.cluster, key, body);
    this.cluster.apply(changes);
    return answer(this.cluster) as Fields;
  }

  delete(plural: string, key: string): unknown {
    const { changes, answer } = planDelete(this.cluster, objectKinds.get(plural)!.type, key);
    this.cluster.apply(changes);
    return answer(this.cluster);
  }

  call(name: string, body: unknown): unknown {
    const { changes, answer } = calls.get(name)!(this.cluster, body);
    this.cluster.apply(changes);
    return answer(this.cluster);
  }

  network(fields: Fields): Fields {
    const network = networkOf(fields);
    return this.put(
      'networks',
      `${String(network['tenantName'])}:${String(network['networkName'])}`,
      network,
    );
  }

  group(fields: Fields): Fields {
    const group = { tenantName: 'default', networkName: 'web', ...fields };
    return this.put('endpointGroups', `${group.tenantName}:${String(group['groupName' as never])}`, group);
  }

  endpoint(container: string, more: EndpointOptions = {}): Endpoint {
    const { EndpointConfig } = this.call('createEndpoint', endpointRequest(container, more)) as {
      EndpointConfig: Endpoint;
    };
    return EndpointConfig;
  }
}

export interface EndpointOptions {
  readonly network?: string;
  readonly tenant?: string;
  readonly group?: string;
  readonly address?: string;
  readonly address6?: string;
}

export const networkOf = (fields: Fields): Fields => ({
  ...{ tenantName: 'default', networkName: 'web', encap: 'vxlan', subnet: '10.1.1.0/24' },
  ...fields,
});

/** As agents of the original send it: empty text where there is nothing. */
export const endpointRequest = (
  container: string,
  { network = 'web', tenant = 'default', group = '', address = '', address6 = '' }: EndpointOptions = {},
): Fields => ({
  ...{ TenantName: tenant, NetworkName: network, ServiceName: group, EndpointID: container },
  EPCommonName: '',
  ConfigEP: {
    ...{ Container: container, Host: 'node1', ServiceName: group },
    ...{ IPAddress: address, IPv6Address: address6 },
  },
});

/** The refusal of a request: `CODE message`. */
export function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    const { code, message } = error as PodwireError;
    return `${code} ${message}`;
  }
  throw new Error('it was not refused');
}
