/** Which provider network has which interface of this node: the oldest of those that name it. */
import { PodwireError } from '@podwire/errors';
import type { ModelScopes, NodeView } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { MODEL } from '../names.js';
import type { ProviderFact } from '../objects.js';

export interface Claim {
  readonly network: string;
  readonly nic: string;
  /** The network that has the interface. */
  readonly holder: string;
}

/** Of all networks that the node is not excluded from; none on a node without a network of the model. */
export function readClaims(read: Read): Claim[] {
  const view = viewOf(read);
  if (view === undefined) return [];
  const facts = [...read('ovn-provider-networks')].flatMap((network) => {
    const fact = read(`ovn-provider-network/${network}`);
    return fact === undefined ? [] : [{ network, nic: interfaceOf(fact, view.name), ...fact }];
  });
  const ordered = facts.toSorted(compareAge);
  return ordered.map(({ network, nic }) => ({
    ...{ network, nic },
    holder: ordered.find((other) => other.nic === nic)!.network,
  }));
}

type Aged = Pick<ProviderFact, 'created'> & Pick<Claim, 'network'>;

const compareAge = (a: Aged, b: Aged): number =>
  (a.created ?? 0) - (b.created ?? 0) || (a.network < b.network ? -1 : 1);

export const viewOf = (read: Read): NodeView | undefined =>
  read('sides-for-peers').find(({ model }) => model.name === MODEL)?.view;

export const interfaceOf = ({ interface: usual, custom }: ProviderFact, node: string): string =>
  custom.find(({ nodes }) => nodes.includes(node))?.interface ?? usual;

const kind = 'ovn-provider-refused';

export const refusedScope = (network: string): `${string}/${string}` => `${kind}/${network}`;

/**
 * Networks that do not have their interface. A plan of theirs that failed under {@link providerScopes} would keep what it had made
 * before, and the holder would get what is left.
 */
export const refusedScopes: ModelScopes = {
  kind,
  list: (read) => readClaims(read).flatMap(({ network, holder }) => (network === holder ? [] : [network])),
  plan(name, read) {
    const claim = readClaims(read).find(({ network }) => network === name);
    if (claim === undefined || claim.holder === name) return undefined;
    const { nic, holder } = claim;
    const message = `provider network ${name}: ${nic} is the interface of provider network ${holder} on this node, which is older`;
    throw new PodwireError('PLAN_FAILED', message);
  },
};
