/** Facts of a node for the status of ProviderNetworks, which the controller writes. */
import type { NodeNow, PublishedFacts, ScopeState } from '@podwire/network-contract';
import { formatReady, providerFacts } from '@podwire/objects/kube-ovn-names';
import { readClaims, refusedScope } from './provider-claims.js';
import { providerScope } from './provider.js';

/** Characters of a problem. */
const mostOfProblem = 200;
/** Characters of all facts, as JSON: a node object with more than 4096, other models included, could not be written. */
const mostOfAll = 3072;

/** Of each network that the node is not excluded from. What is on its way is said to be as it was before. */
export function publishProviders({ read, stateOf, before }: NodeNow): PublishedFacts {
  const claims = readClaims(read).toSorted((a, b) => (a.network < b.network ? -1 : 1));
  const facts = claims.flatMap(({ network, nic, holder }) => {
    const name = `${providerFacts.prefix}${network}`;
    const scope = network === holder ? providerScope(network) : refusedScope(network);
    const text = describeState(stateOf(scope), read(`host-link/${nic}`)?.mtu) ?? before[name];
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(takeFitting(facts));
}

function describeState(state: ScopeState, mtu: number | undefined): string | undefined {
  if (state === 'pending') return undefined;
  return state === 'in-force' ? formatReady(mtu) : state.problem.slice(0, mostOfProblem);
}

/** The first ones, as far as there is room for them. */
function takeFitting<T>(facts: readonly T[]): T[] {
  let left = mostOfAll;
  return facts.filter((fact) => {
    left -= JSON.stringify(fact).length;
    return left >= 0;
  });
}
