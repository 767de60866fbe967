/** Resources of our own tables as commands of one transaction. */
import type { AnyResource, Failure, Resource } from '@podwire/engine';
import {
  type Command,
  type Element,
  type ElementChange,
  type Nftables,
  NftablesError,
} from '@podwire/nftables';
import type { NftablesResources, NftElement } from './resources.js';

/** Resources that travel in transactions. */
export type InTransaction = NftablesResources['nft-own-table' | 'nft-set' | 'nft-chain' | 'nft-element'];

const kinds: ReadonlySet<string> = new Set<InTransaction['kind']>([
  ...(['nft-own-table', 'nft-set', 'nft-chain', 'nft-element'] as const),
]);

export const isInTransaction = (resource: AnyResource): resource is InTransaction => kinds.has(resource.kind);

/** The content of an element. */
export function contentOf({ value, chain }: NftElement): Pick<Element, 'value' | 'verdict'> {
  if (chain !== undefined) return { verdict: { verdict: 'goto', chain } };
  return value === undefined ? {} : { value };
}

/** @param op for elements */
export function putCommand(resource: InTransaction, op: ElementChange['op']): Command {
  switch (resource.kind) {
    case 'nft-own-table':
      return { op: 'add-table', family: resource.family, name: resource.name };
    case 'nft-set':
      return { op: 'add-set', family: resource.family, table: resource.table, set: resource.set };
    case 'nft-chain':
      return { op: 'put-chain', family: resource.family, table: resource.table, chain: resource.chain };
    case 'nft-element': {
      const { family, table, set, key } = resource;
      return { op, family, table, set, key, ...contentOf(resource) };
    }
  }
}

export function removeCommand(resource: InTransaction): Command {
  const { family } = resource;
  switch (resource.kind) {
    case 'nft-own-table':
      return { op: 'delete-table', family, name: resource.name };
    case 'nft-set':
      return { op: 'delete-set', family, table: resource.table, name: resource.set.name };
    case 'nft-chain':
      return { op: 'delete-chain', family, table: resource.table, name: resource.chain.name };
    case 'nft-element':
      return { op: 'destroy', family, table: resource.table, set: resource.set, key: resource.key };
  }
}

/** A resource, and what is to be done about it. */
export type Step = readonly [Resource, Command];

/** One transaction: when one command is refused, none is carried out, and the others share the first failure. */
export function carryOut(nftables: Nftables, steps: readonly Step[]): Failure[] {
  try {
    nftables.transact(steps.map(([, command]) => command));
    return [];
  } catch (error) {
    const own = error instanceof NftablesError ? failuresByIndex(error) : new Map<number, NftablesError>();
    const [first = error] = own.values();
    return steps.map(([resource], index) => ({ resource, error: own.get(index) ?? first }));
  }
}

/** All in one transaction if possible, otherwise each in its own, in order. */
export function carryOutAsFarAsPossible(nftables: Nftables, steps: readonly Step[]): Failure[] {
  if (steps.length === 0) return [];
  const failures = carryOut(nftables, steps);
  if (failures.length === 0 || steps.length === 1) return failures;
  return steps.flatMap((step) => carryOut(nftables, [step]));
}

function failuresByIndex({ failures }: NftablesError): Map<number, NftablesError> {
  return new Map(
    failures.flatMap((failure) =>
      failure.index === undefined ? [] : [[failure.index, new NftablesError([failure])]],
    ),
  );
}
