/** Looks at clusters of Kube-OVN's objects, and the plans that are made of them. */
import {
  listDefaults,
  type OvnLook,
  type OvnPlan,
  planOvnCluster,
  type ProviderStates,
} from '@podwire/cluster-ovn';
import {
  type AnyObject,
  checkObject,
  decodeStoredObject,
  encodeStoredObject,
  objectKey,
  referenceOf,
  type StoredObject,
} from '@podwire/objects';

export const options = {
  defaults: listDefaults({ joinCidr: '100.64.0.0/16', defaultCidr: '10.16.0.0/16' }),
  encapsulation: 'geneve',
};

let revision = 0;

/** As a store gives it back. @throws Error where it could not be read */
export function stored(object: AnyObject): StoredObject {
  revision += 1;
  const key = objectKey('/podwire', referenceOf(object));
  const value = encodeStoredObject(object, undefined, revision);
  const decoded = decodeStoredObject('/podwire', { key, value, revision });
  if (decoded.stored === undefined) throw new Error(JSON.stringify(decoded.unreadable.problems));
  return decoded.stored;
}

export function make(kind: string, name: string, spec: Readonly<Record<string, unknown>>): StoredObject {
  const checked = checkObject({ apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return stored(checked.object);
}

export const nodeOf = (name: string, isReachable = true) => ({ name, addresses: ['192.0.2.1'], isReachable });

/** @param providers as the node says */
export const nodeSaying = (name: string, providers: ProviderStates) => ({ ...nodeOf(name), providers });

export function lookOf(objects: readonly StoredObject[], nodes: OvnLook['nodes'] = [], now = 0): OvnLook {
  const ofKind = (kind: string) => objects.filter(({ object }) => object.kind === kind) as never;
  const lists = { subnets: ofKind('Subnet'), vpcs: ofKind('Vpc'), vlans: ofKind('Vlan'), ips: ofKind('IP') };
  const providerNetworks = ofKind('ProviderNetwork');
  return {
    objects: { ...lists, providerNetworks, unreadable: [] },
    nodes,
    pods: [],
    unreadablePods: [],
    now,
  };
}

/** Makes the changes of one plan. */
function carryOut(objects: readonly StoredObject[], { changes }: OvnPlan): StoredObject[] {
  const gone = new Set(changes.map(({ before }) => before));
  const added = changes.flatMap(({ after }) => (after === undefined ? [] : [stored(after)]));
  return [...objects.filter((one) => !gone.has(one)), ...added];
}

/** Those that are there when no plan changes anything any more. @throws Error where plans go on without end */
export function settle(
  objects: readonly StoredObject[],
  nodes: OvnLook['nodes'] = [],
  now = 0,
  pods: OvnLook['pods'] = [],
): StoredObject[] {
  let left = [...objects];
  for (let round = 0; round < 4; round++) {
    const plan = planOvnCluster({ ...lookOf(left, nodes, now + round), pods }, options);
    if (plan.changes.length === 0) return left;
    left = carryOut(left, plan);
  }
  throw new Error('there is always something to change');
}

export const writesOf = ({ changes }: OvnPlan): string[] =>
  changes.map(({ before, after }) => {
    const { kind, metadata } = after ?? before.object;
    return `${after === undefined ? 'delete' : before === undefined ? 'create' : 'change'} ${kind} ${metadata.name}`;
  });
