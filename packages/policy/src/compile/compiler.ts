/** The compiler: takes changes in, brings its indexes up to date, and says what is different in the compiled form. */
import { compact } from '@podwire/platform';
import type { InputChange } from '../model/changes.js';
import type { CompilerOptions, PodInspection, PolicyCompiler } from './compiler-contract.js';
import type { CompiledDelta, CompiledEndpoint, CompiledPolicy, CompiledState, PolicyId } from './contract.js';
import { inspectPod } from './inspect.js';
import { LabelDependence } from './label-dependence.js';
import { LiveSets } from './live-sets.js';
import { profileNamesOf } from './labels.js';
import { orderEndpoint } from './order.js';
import { Policies } from './policies.js';
import { compilePolicy, compileProfile, type PolicyWithSets, profileId } from './rules.js';
import { hostKey, World } from './world.js';

export const createCompiler = (options: CompilerOptions): PolicyCompiler => new Compiler(options);

class Compiler implements PolicyCompiler {
  readonly #node: string;
  readonly #world: World;
  readonly #policies: Policies;
  readonly #sets: LiveSets;
  readonly #labelDependence = new LabelDependence();
  readonly #compiled = new Map<PolicyId, PolicyWithSets>();
  readonly #compiledPolicies = new Map<PolicyId, CompiledPolicy>();
  readonly #endpoints = new Map<string, CompiledEndpoint>();
  /** Policies in force of each endpoint, and of how many endpoints each policy is in force. */
  readonly #used = new Map<string, ReadonlySet<PolicyId>>();
  readonly #users = new Map<PolicyId, number>();
  readonly #dirtyEndpoints = new Set<string>();
  readonly #dirtyPolicies = new Set<PolicyId>();

  constructor({ node }: CompilerOptions) {
    this.#node = node;
    const note = (key: string): void => void this.#dirtyEndpoints.add(key);
    this.#world = new World({
      endpoint: note,
      thing: (...change) => this.#sets.replaceThing(...change),
    });
    this.#policies = new Policies(node, this.#world.selections, note);
    this.#sets = new LiveSets(this.#world.selections, this.#world.findThings);
  }

  get state(): CompiledState {
    return { sets: this.#sets.sets, policies: this.#compiledPolicies, endpoints: this.#endpoints };
  }

  apply(changes: readonly InputChange[]): CompiledDelta {
    for (const change of changes) this.#take(change);
    const endpoints = this.#settleEndpoints();
    const policies = this.#settlePolicies();
    const { sets, removed } = this.#sets.takeChanges();
    return { sets, setsRemoved: removed, ...policies, ...endpoints };
  }

  inspect(pod: string): PodInspection | undefined {
    const world = this.#world;
    return inspectPod(pod, { world, policies: this.#policies.all(), sets: this.#sets.sets });
  }

  dependsOnLabels(namespace: string): boolean {
    return this.#labelDependence.of(this.#world.labelsOfNamespace(namespace));
  }

  #take(change: InputChange): void {
    switch (change.topic) {
      case 'policy':
        return this.#takePolicy(change);
      case 'tier':
        return this.#takeTier(change);
      case 'profile':
        this.#dirtyPolicies.add(profileId(change.key));
        return this.#world.change(change);
      default:
        return this.#world.change(change);
    }
  }

  #takePolicy({ key, value }: Extract<InputChange, { topic: 'policy' }>): void {
    this.#dirtyPolicies.add(key);
    this.#labelDependence.replace(this.#policies.get(key), value);
    if (!this.#policies.replace(key, value)) return;
    for (const { fact } of this.#world.hostEndpoints(this.#node))
      this.#dirtyEndpoints.add(hostKey(fact.name));
  }

  /** Endpoints are told apart by how their tiers end, too. */
  #takeTier({ key, value }: Extract<InputChange, { topic: 'tier' }>): void {
    if (value === undefined) this.#world.tiers.delete(key);
    else this.#world.tiers.set(key, value);
    for (const endpoint of this.#endpoints.keys()) this.#dirtyEndpoints.add(endpoint);
  }

  #settleEndpoints(): Pick<CompiledDelta, 'endpoints' | 'endpointsRemoved'> {
    const endpoints: CompiledEndpoint[] = [];
    const endpointsRemoved: string[] = [];
    for (const key of this.#dirtyEndpoints) {
      const before = this.#endpoints.get(key);
      const after = this.#compileEndpoint(key);
      this.#use(key, after);
      if (after !== undefined && !isSame(before, after)) endpoints.push(after);
      if (after !== undefined) this.#endpoints.set(key, after);
      else if (this.#endpoints.delete(key)) endpointsRemoved.push(key);
    }
    this.#dirtyEndpoints.clear();
    return { endpoints, endpointsRemoved };
  }

  #compileEndpoint(key: string): CompiledEndpoint | undefined {
    return this.#compilePod(key) ?? this.#compileHost(key);
  }

  #compilePod(key: string): CompiledEndpoint | undefined {
    const pod = this.#world.selections.pods.get(key);
    if (pod === undefined || pod.fact.node !== this.#node || pod.fact.hostNetwork === true) return undefined;
    const profiles = profileNamesOf(pod.fact).filter((name) => this.#world.profiles.has(name));
    const policies = [...this.#policies.ofPod(key)];
    return orderEndpoint({ key, kind: 'pod', policies, profiles }, this.#world.tiers);
  }

  #compileHost(key: string): CompiledEndpoint | undefined {
    const host = key.startsWith(hostKey(''))
      ? this.#world.hostEndpoint(key.slice(hostKey('').length))
      : undefined;
    if (host?.fact.node !== this.#node) return undefined;
    const profiles = host.fact.profiles.filter((name) => this.#world.profiles.has(name));
    const policies = [...this.#policies.ofHost(host.labels)];
    const endpoint = orderEndpoint({ key, kind: 'host-endpoint', policies, profiles }, this.#world.tiers);
    return { ...endpoint, ...compact({ link: host.fact.interfaceName }) };
  }

  #use(key: string, endpoint: CompiledEndpoint | undefined): void {
    const before = this.#used.get(key) ?? new Set();
    const after = endpoint === undefined ? new Set<PolicyId>() : policiesOf(endpoint);
    for (const id of after) if (!before.has(id)) this.#count(id, 1);
    for (const id of before) if (!after.has(id)) this.#count(id, -1);
    if (after.size > 0) this.#used.set(key, after);
    else this.#used.delete(key);
  }

  #count(id: PolicyId, by: 1 | -1): void {
    const users = (this.#users.get(id) ?? 0) + by;
    if (users > 0) this.#users.set(id, users);
    else this.#users.delete(id);
    if (users === 0 || (users === 1 && by === 1)) this.#dirtyPolicies.add(id);
  }

  #settlePolicies(): Pick<CompiledDelta, 'policies' | 'policiesRemoved'> {
    const policies: CompiledPolicy[] = [];
    const policiesRemoved: PolicyId[] = [];
    for (const id of this.#dirtyPolicies) {
      const before = this.#compiled.get(id);
      const after = this.#users.has(id) ? this.#compile(id) : undefined;
      if (after !== undefined && isSame(before?.policy, after.policy)) continue;
      this.#exchange(id, before, after);
      if (after !== undefined) policies.push(after.policy);
      else if (before !== undefined) policiesRemoved.push(id);
    }
    this.#dirtyPolicies.clear();
    return { policies, policiesRemoved };
  }

  #compile(id: PolicyId): PolicyWithSets | undefined {
    const policy = this.#policies.get(id);
    if (policy !== undefined) return compilePolicy(policy, this.#node);
    const profile = this.#world.profiles.get(id.slice(profileId('').length));
    return profile && compileProfile(profile, this.#node);
  }

  /** Sets that both need stay as they are. */
  #exchange(id: PolicyId, before: PolicyWithSets | undefined, after: PolicyWithSets | undefined): void {
    for (const set of after?.sets.values() ?? []) this.#sets.acquire(set);
    for (const set of before?.sets.keys() ?? []) this.#sets.release(set);
    if (after === undefined) {
      this.#compiled.delete(id);
      this.#compiledPolicies.delete(id);
      return;
    }
    this.#compiled.set(id, after);
    this.#compiledPolicies.set(id, after.policy);
  }
}

/** Both have been written by the same code, with fields in the same order. */
const isSame = (a: object | undefined, b: object): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);

export const policiesOf = ({ ingress, egress }: CompiledEndpoint): Set<PolicyId> =>
  new Set(
    [ingress, egress].flatMap(({ tiers, profiles }) => [
      ...tiers.flatMap(({ policies }) => policies),
      ...profiles,
    ]),
  );
