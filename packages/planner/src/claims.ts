/**
 * The claims on one key. Mostly there is one, or all of them agree: then any of them stands for all, and one more or less costs
 * nothing. Only while they differ are they ranked.
 */
import type { Scope } from './contract.js';
import { isSame } from './content.js';

/** The list of a scope, or one member of its collections. */
export interface Claimant {
  readonly scope: Scope;
  /** Empty for the list. */
  readonly part: string;
  readonly priority: number;
  keys: readonly string[];
}

export interface Claims<R> {
  winner: Claimant | undefined;
  /** The resource of the winner. Who agrees with it claims the very same object. */
  wanted: R | undefined;
  others: Map<Claimant, R> | undefined;
  /** So many of the others want something else. While it is 0 the winner is any of them. */
  differing: number;
}

/** @returns whether the wanted resource has changed */
export function putClaim<R>(claims: Claims<R>, claimant: Claimant, resource: R): boolean {
  const { winner, wanted } = claims;
  const agrees = winner !== undefined && isSame(resource, wanted);
  if (winner === claimant) return !agrees && setWinner(claims, claimant, resource);
  if (winner === undefined) return setWinner(claims, claimant, resource);
  claims.others ??= new Map();
  const before = claims.others.get(claimant);
  claims.others.set(claimant, agrees ? wanted! : resource);
  const [differed, differs] = [before !== undefined && before !== wanted, !agrees];
  claims.differing += Number(differs) - Number(differed);
  const isFirst = differs && claims.differing === 1;
  return isFirst || (claims.differing > 0 && isBefore(claimant, winner)) ? elect(claims) : false;
}

/** @returns whether the wanted resource has changed */
export function dropClaim<R>(claims: Claims<R>, claimant: Claimant): boolean {
  const { winner, wanted, others } = claims;
  if (winner === claimant) return dropWinner(claims);
  const before = others?.get(claimant);
  if (before === undefined) return false;
  others!.delete(claimant);
  // While some differ they all rank behind the winner, so that it stays.
  if (before !== wanted) claims.differing -= 1;
  return false;
}

/** The claimant has the key, or agrees with the one that has it. */
export const hasKey = <R>({ winner, wanted, others }: Claims<R>, claimant: Claimant): boolean =>
  winner === claimant || others?.get(claimant) === wanted;

/** The scope still wants what is wanted. Looks through all claims. */
export function sharesKey<R>({ winner, wanted, others }: Claims<R>, scope: Scope): boolean {
  if (winner?.scope === scope) return true;
  for (const [claimant, resource] of others ?? [])
    if (claimant.scope === scope && resource === wanted) return true;
  return false;
}

export function findLosers<R>({ winner, wanted, others }: Claims<R>): Scope[] {
  const losing = [...(others ?? [])]
    .filter(([, resource]) => resource !== wanted)
    .map(([{ scope }]) => scope);
  return [...new Set(losing)].filter((scope) => scope !== winner?.scope).sort();
}

function setWinner<R>(claims: Claims<R>, claimant: Claimant, resource: R): boolean {
  const { wanted } = claims;
  claims.winner = claimant;
  claims.wanted = resource;
  if (claims.others === undefined) return true;
  elect(claims);
  return !isSame(claims.wanted, wanted);
}

function dropWinner<R>(claims: Claims<R>): boolean {
  const next = claims.others?.entries().next().value;
  if (next === undefined) {
    claims.winner = undefined;
    claims.wanted = undefined;
    claims.others = undefined;
    return true;
  }
  const [claimant, resource] = next;
  claims.others!.delete(claimant);
  claims.winner = claimant;
  claims.wanted = resource;
  return claims.differing > 0 && elect(claims);
}

/** Finds the first of all by rank. */
function elect<R>(claims: Claims<R>): boolean {
  const { winner, wanted, others = new Map<Claimant, R>() } = claims;
  others.set(winner!, wanted!);
  const first = [...others.keys()].reduce((best, each) => (isBefore(each, best) ? each : best));
  const resource = others.get(first)!;
  others.delete(first);
  claims.winner = first;
  claims.wanted = resource;
  claims.differing = 0;
  for (const [claimant, other] of others) {
    if (isSame(other, resource)) others.set(claimant, resource);
    else claims.differing += 1;
  }
  return true;
}

/** The order needs no history: an agent that starts again decides alike. */
function isBefore(one: Claimant, other: Claimant): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.scope === other.scope ? one.part < other.part : one.scope < other.scope;
}
