/** Objects of Kube-OVN for tests, and what the schemas say of them. */
import { formatPath } from '@podwire/apimachinery';
import { type AnyObject, checkObject } from '../../src/index.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface KubeOvnObject extends AnyObject {
  readonly spec: Fields;
  readonly status?: Fields;
}

export const subnet = (spec: Fields, name = 'shop') => ({
  apiVersion: 'kubeovn.io/v1',
  kind: 'Subnet',
  metadata: { name },
  spec: { cidrBlock: '10.16.0.0/16', ...spec },
});

export const dual = '10.16.0.0/16,fd00:10:16::/64';

export const dualSubnet = (spec: Fields) => subnet({ cidrBlock: dual, ...spec });

export const centralized = (gatewayNode: string, spec: Fields = {}) =>
  subnet({ gatewayType: 'centralized', gatewayNode, ...spec });

/** With a router outside. */
export const routed = (spec: Fields) =>
  subnet({
    externalEgressGateway: '192.168.1.1',
    policyRoutingPriority: 1001,
    policyRoutingTableID: 1001,
    ...spec,
  });

export function problemsOf(value: unknown): string[] {
  const checked = checkObject(value, { keepStatus: true });
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

export function objectOf(value: unknown): KubeOvnObject {
  const checked = checkObject(value, { keepStatus: true });
  if (!checked.ok) throw new Error(problemsOf(value).join('\n'));
  return checked.object as KubeOvnObject;
}
