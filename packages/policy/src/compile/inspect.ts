/** Policies that would apply to a pod of any node: looked up by going through everything, and nothing is kept. */
import type { PodKey } from '../model/facts.js';
import type { Policy } from '../model/policy.js';
import type { PodInspection } from './compiler-contract.js';
import type { CompiledPolicy, SetId } from './contract.js';
import { profileNamesOf } from './labels.js';
import type { LiveSet } from './live-sets.js';
import { mergeNets } from './nets.js';
import { appliesToPods, orderEndpoint } from './order.js';
import { describeSelection, type SetDescription, type SetPart } from './parts.js';
import { compilePolicy, compileProfile, type PolicyWithSets } from './rules.js';
import { channelOfPart, membersOfPod, membersOfThing, type PodEntry, selectsPod } from './things.js';
import type { World } from './world.js';

export interface Inspected {
  readonly world: World;
  readonly policies: Iterable<Policy>;
  /** In force on this node: not looked up again. */
  readonly sets: ReadonlyMap<SetId, LiveSet>;
}

/** @returns undefined for pods that are not known, and for those with the network of their node: they are no endpoints */
export function inspectPod(key: PodKey, { world, policies, sets }: Inspected): PodInspection | undefined {
  const pod = world.selections.pods.get(key);
  if (pod === undefined || pod.fact.hostNetwork === true) return undefined;
  const own = [...policies].filter((policy) => appliesToPods(policy) && selects(policy, pod));
  const names = profileNamesOf(pod.fact).filter((name) => world.profiles.has(name));
  const { node } = pod.fact;
  const compiled = [
    ...own.map((policy) => compilePolicy(policy, node)),
    ...names.map((name) => compileProfile(world.profiles.get(name)!, node)),
  ];
  return {
    pod: pod.fact,
    endpoint: orderEndpoint({ key, kind: 'pod', policies: own, profiles: names }, world.tiers),
    policies: new Map<string, CompiledPolicy>(compiled.map(({ policy }) => [policy.id, policy])),
    sets: fillSets(compiled, world, sets),
  };
}

const selects = ({ subjects }: Policy, pod: PodEntry): boolean =>
  subjects.some((subject) => subject.is === 'pods' && selectsPod(describeSelection(subject), pod));

function fillSets(
  compiled: readonly PolicyWithSets[],
  world: World,
  known: ReadonlyMap<SetId, LiveSet>,
): ReadonlyMap<SetId, LiveSet> {
  const needed = new Map(compiled.flatMap(({ sets }) => [...sets]));
  return new Map([...needed].map(([id, set]) => [id, known.get(id) ?? fillSet(set, world)]));
}

function fillSet(description: SetDescription, world: World): LiveSet {
  const { id, type, family, comment, parts } = description;
  const given = new Set(parts.flatMap((part) => [...findMembers(part, family, world)]));
  const members = type === 'nets' ? new Set(mergeNets(given, family)) : given;
  return { set: { id, type, family, comment }, members };
}

function findMembers(part: SetPart, family: SetDescription['family'], world: World): readonly string[] {
  if (part.from === 'nets') return part.nets;
  if (part.from !== 'pods')
    return [...world.findThings(channelOfPart(part))].flatMap((thing) => membersOfThing(part, thing, family));
  const { selection } = part;
  const candidates = [...world.selections.pods.candidates(selection)];
  return candidates
    .filter((pod) => selectsPod(selection, pod))
    .flatMap((pod) => membersOfPod(part, pod, family));
}
