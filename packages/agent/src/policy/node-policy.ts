/** Policy on this node: follows objects and facts, and answers what ADD and DEL need. Only the exchange leaves memory. */
import type { PolicyStatus } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import type { Change, Owned } from '@podwire/engine';
import { planSources, podLinkPrefix, tunnel } from '@podwire/network-traffic';
import { orAborted } from '@podwire/platform';
import type { InputChange, PodFact, PolicyCompiler } from '@podwire/policy';
import type { PolicyRenderer } from '@podwire/network-policy';
import { describeEndpoint } from '../endpoints/registry.js';
import { isEnforced } from '../networks.js';
import type { EndpointRecord } from '../records/record.js';
import { AddressOwners } from './force/address-owners.js';
import type {
  Decide,
  Drop,
  DropCount,
  NodePolicy,
  NodePolicyOptions,
  PolicyCluster,
  PolicyEndpoint,
  PolicyProblem,
  PolicyState,
} from './contract.js';
import { type Applied, Enforcer } from './force/enforcer.js';
import { EstablishedCutter } from './force/cut-established.js';
import { withModels } from './look/model-verdicts.js';
import { findUnenforced } from './look/unenforced.js';
import { createDecider } from './look/decider.js';
import { describeDrop } from './look/describe-drop.js';
import { DropLog } from './look/drops.js';
import { DepartedPods, isSelected } from './inputs/departed-pods.js';
import { countDrops } from './look/drop-counts.js';
import { describeStatus } from './publish/describe-status.js';
import { FactPublisher } from './publish/fact-publisher.js';
import { podKeyOf, policyPodOf } from './inputs/facts.js';
import { followCluster, unchanged } from './inputs/follow-cluster.js';
import { followObjects } from './inputs/follow-objects.js';
import { type Changed, PolicyInputs } from './inputs/inputs.js';
import { nodeFactOf, ownNodeFact } from './inputs/node-facts.js';
import { labelsUnknown, lacksLabels, waitForLabels } from './inputs/label-gate.js';
import type { RemoteFacts } from './inputs/remote-facts.js';
import { SavedInputs } from './inputs/saved-inputs.js';
import { StatusWriter } from './publish/status-writer.js';

export const createNodePolicy = (options: NodePolicyOptions): NodePolicy => new PolicyService(options);

class PolicyService implements NodePolicy {
  readonly compiler: PolicyCompiler;
  readonly renderer: PolicyRenderer;
  readonly inputs: PolicyInputs;
  readonly #options: NodePolicyOptions;
  readonly #enforcer: Enforcer;
  readonly #owners: AddressOwners | undefined;
  readonly #cutter: EstablishedCutter | undefined;
  readonly #drops: DropLog | undefined;
  readonly #publisher: FactPublisher | undefined;
  readonly #saved: SavedInputs | undefined;
  readonly #status: StatusWriter | undefined;
  readonly #departed: DepartedPods;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #appliedListeners: ((applied: Applied) => void)[] = [];
  readonly #background: Promise<void>[] = [];
  #remote: RemoteFacts | undefined;
  #isKnown = false;
  #interruption: unknown;
  #last: Applied | undefined;
  readonly #isEnforced = (record: EndpointRecord): boolean => isEnforced(this.#options.networks, record);
  #noteObjects = (): void => undefined;
  #noteBegun = (): void => undefined;
  readonly begun = new Promise<void>((resolve) => (this.#noteBegun = resolve));
  readonly #objectsKnown = new Promise<void>((resolve) => (this.#noteObjects = resolve));

  constructor(options: NodePolicyOptions) {
    const { nodeName, config, world, cluster, log } = options;
    this.#options = options;
    this.compiler = world.createCompiler({ node: nodeName });
    this.renderer = world.createRenderer({
      ...{ podLinkPrefixes: [podLinkPrefix], logGroup: config.logGroup, planSources },
      tunnelPorts: [tunnel.port],
      failsafes: { ingress: config.failsafeInbound, egress: config.failsafeOutbound },
    });
    this.inputs = new PolicyInputs(nodeName, world.createTranslator(), this.#isEnforced);
    this.#enforcer = new Enforcer({
      ...options,
      compiler: this.compiler,
      renderer: this.renderer,
      clock: world.clock,
      onApplied: (applied) => this.#noteApplied(applied),
    });
    const { conntrack: cuts, clock } = world;
    this.#owners = cuts === undefined ? undefined : new AddressOwners({ cuts, clock, log });
    this.#cutter = this.#createCutter();
    this.#drops = this.#createDropLog();
    const forget = (inputs: readonly InputChange[]): void => void this.#push({ ...unchanged, inputs });
    this.#departed = new DepartedPods({
      ...{ node: nodeName, clock, forget },
      isSelected: (pod) => isSelected(this.compiler.state.endpoints.get(pod)),
    });
    if (cluster === undefined) return;
    const { store, keys, leaseId } = cluster;
    const shared = { node: nodeName, store, keys, clock, log };
    this.#saved = new SavedInputs({ node: nodeName, files: cluster.files, clock, log });
    this.#status = new StatusWriter({ ...shared, leaseId, read: () => this.#describeStatus() });
    this.#publisher = new FactPublisher({
      ...shared,
      read: (pod) => this.inputs.pods.published(pod),
      localPods: () => this.inputs.pods.localPods(),
      mayWrite: () => leaseId() !== undefined,
    });
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  get state(): PolicyState {
    const { inForce, problem, isApplied } = this.#enforcer;
    return {
      isKnown: this.#isKnown,
      isApplied,
      revision: inForce,
      problem: problem ?? this.#interruption,
      problems: this.#problems(),
      last: this.#last,
    };
  }

  /** Takes in what is on the node already, and begins to follow everything else. */
  start(): void {
    const { endpoints, cluster, nudge, log } = this.#options;
    for (const record of endpoints.all())
      if (record.phase === 'ready') void this.#push(this.inputs.attach(record));
    this.refreshNode();
    this.#remote = cluster && this.#followCluster(cluster);
    this.#background.push(this.#followObjects());
    const none = Promise.resolve();
    const known = [this.#objectsKnown, this.#remote?.synced ?? none, cluster?.cache.synced ?? none];
    void Promise.all(known).then(
      () => {
        this.#isKnown = true;
        const gone = this.#saved?.takeGone() ?? [];
        this.#enforcer.open();
        this.#publisher?.start();
        this.#announce();
        // A reconcile prunes resources that an earlier life has left and that are not wanted any more.
        void this.#push({ ...unchanged, inputs: gone })
          .then(nudge, () => undefined)
          .finally(() => this.#noteBegun());
      },
      (err: unknown) => {
        if (!this.#stopped.signal.aborted) log.error({ err }, 'policy cannot be read');
      },
    );
  }

  get source(): string {
    return this.#options.world.source.name;
  }

  decider(): Decide {
    const { nodeName, config, networks, read } = this.#options;
    const failsafes = { ingress: config.failsafeInbound, egress: config.failsafeOutbound };
    const decide = createDecider(this.compiler, this.inputs, { node: nodeName, failsafes });
    const podAt = (address: string): PodFact | undefined =>
      this.inputs.pods.pods.get(this.inputs.podAt(address) ?? '');
    return withModels(decide, { networks, read, podAt });
  }

  dropCounts(): readonly DropCount[] {
    return countDrops(this.#options.world.readCounts?.() ?? [], this.renderer);
  }

  drops(signal: AbortSignal): AsyncIterable<Drop> {
    if (this.#drops !== undefined) return this.#drops.follow(signal);
    throw new PodwireError('REQUEST_INVALID', 'this agent cannot hear of dropped packets');
  }

  goOnWithSaved(): void {
    const inputs = this.#isKnown ? undefined : this.#saved?.restore();
    if (inputs === undefined) return;
    this.#options.log.warn({ inputs: inputs.length }, 'policy goes on with what is known from before');
    this.#isKnown = true;
    void this.#push({ ...unchanged, inputs });
    this.#enforcer.open();
  }

  requireKnown(): void {
    if (this.#isKnown) return;
    const { world } = this.#options;
    const message = `the policies of ${world.source.name} have not been read yet, and no pod is added without them`;
    throw new PodwireError('AGENT_NOT_READY', message);
  }

  lacksLabels(endpoint: PolicyEndpoint): boolean {
    return lacksLabels(this.compiler, endpoint);
  }

  async waitForLabels(endpoint: PolicyEndpoint, signal: AbortSignal): Promise<void> {
    await waitForLabels(endpoint, {
      deadline: this.#options.config.labelWait,
      lacks: () => this.lacksLabels(endpoint),
      onChange: (listener) => this.onChange(listener),
      signal,
    });
  }

  async attach(record: EndpointRecord, signal: AbortSignal): Promise<void> {
    this.requireKnown();
    const addresses = record.leases.map(({ address }) => address);
    await this.#owners?.settled(addresses, signal);
    await orAborted(this.#push(this.inputs.attach(record)), signal);
    await this.#owners?.settled(addresses, signal);
    // A policy may have come while the pod was on its way.
    if (this.lacksLabels(record)) throw labelsUnknown(record);
  }

  announce(record: EndpointRecord): void {
    if (!this.#isEnforced(record)) void this.#push(this.inputs.attach(record));
    this.#publish(record);
  }

  async detach(record: EndpointRecord): Promise<void> {
    const { log } = this.#options;
    // Nothing is in force for it, so the runtime has its answer first.
    if (!this.#isEnforced(record)) return void setImmediate(() => void this.#noteGone(record));
    const done = this.#noteGone(record);
    // Until policies are known nothing is exchanged, and nothing of the endpoint was.
    if (!this.#isKnown) return;
    await done.catch((err: unknown) =>
      log.warn({ err, endpoint: describeEndpoint(record) }, 'an endpoint is still in the table of policy'),
    );
  }

  #noteGone(record: EndpointRecord): Promise<void> {
    const done = this.#push(this.inputs.detach(record));
    this.#publish(record);
    return done;
  }

  #publish(record: EndpointRecord): void {
    this.#publisher?.note(podKeyOf(policyPodOf(record)));
  }

  repair(signal: AbortSignal): Promise<readonly Change[]> {
    return this.#enforcer.repair(signal);
  }

  owned(): readonly Owned[] {
    return this.#enforcer.owned();
  }

  /** The node's own addresses may be others. */
  refreshNode(): void {
    const { nodeName, cluster, host: look } = this.#options;
    const stored = cluster?.cache.nodes.get(nodeName)?.value;
    const known = stored === undefined ? undefined : nodeFactOf(stored);
    const host = look();
    const fact = ownNodeFact(nodeName, known?.labels ?? {}, known?.addresses ?? [], host);
    const inputs = [...this.inputs.noteNode(nodeName, fact), ...this.inputs.noteHost(host)];
    void this.#push({ ...unchanged, inputs });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    const reason = new PodwireError('AGENT_NOT_READY', 'the agent is stopping');
    this.#stopped.abort(reason);
    this.#drops?.stop();
    await this.#enforcer.stop(reason);
    await Promise.all([
      ...this.#background,
      this.#departed.stop(),
      this.#owners?.stop(),
      this.#cutter?.stop(),
      this.#publisher?.stop(),
      this.#status?.stop(),
      this.#saved?.stop(),
      this.#remote?.close(),
    ]);
  }

  /** @returns resolves when it is in force; a caller that does not wait finds failures in the state */
  #push(changed: Changed, revision?: number): Promise<void> {
    this.#saved?.note(changed.inputs);
    const inputs = [...this.#departed.follow(changed.inputs), ...changed.inputs];
    const done = this.#enforcer.push({ ...changed, inputs, revision });
    done.then(
      () => this.#departed.confirm(changed.inputs),
      () => undefined,
    );
    this.#owners?.release(changed.released);
    this.#owners?.take(changed.taken);
    return done;
  }

  #createCutter(): EstablishedCutter | undefined {
    const { config, world, log } = this.#options;
    const { conntrack: cuts, clock } = world;
    if (!config.cutEstablished || cuts === undefined) return undefined;
    return new EstablishedCutter({
      ...{ cuts, clock, log },
      decider: () => this.decider(),
      isLocal: (address) => this.inputs.isLocal(address),
    });
  }

  #createDropLog(): DropLog | undefined {
    const { config, world, log } = this.#options;
    const { openDrops, readLinkName, clock } = world;
    if (openDrops === undefined) return undefined;
    return new DropLog({
      ...{ clock, log },
      open: (signal) => openDrops(config.logGroup, signal),
      describe: (packet) =>
        describeDrop(packet, {
          now: clock.now(),
          reason: this.renderer.describeDrop?.(packet.prefix),
          nameOf: (address) => this.inputs.nameOf(address),
          linkOf: (index) => readLinkName?.(index),
        }),
    });
  }

  #followCluster(cluster: PolicyCluster): RemoteFacts {
    const { nodeName, log } = this.#options;
    cluster.onChange(() => this.#status?.note());
    return followCluster({
      ...{ cluster, nodeName, log, inputs: this.inputs },
      push: (changed) => void this.#push(changed),
      noteLost: (pod) => this.#publisher?.noteLost(pod),
      refreshNode: () => this.refreshNode(),
    });
  }

  #followObjects(): Promise<void> {
    const { world, log } = this.#options;
    return followObjects({
      ...{ source: world.source, clock: world.clock, signal: this.#stopped.signal },
      take: (batch) => {
        const { inputs, revision } = this.inputs.takeObjects(batch);
        void this.#push({ ...unchanged, inputs }, revision);
        this.#noteObjects();
      },
      onInterruption: (error) => {
        this.#interruption = error;
        if (error !== undefined)
          log.warn({ err: error }, 'objects cannot be followed now; what is known stays in force');
      },
    });
  }

  onApplied(listener: (applied: Applied) => void): void {
    this.#appliedListeners.push(listener);
  }

  #noteApplied(applied: Applied): void {
    for (const listener of this.#appliedListeners) listener(applied);
    if (applied.changed > 0) {
      this.#last = applied;
      this.#cutter?.note();
    }
    this.#status?.note();
    this.#announce();
  }

  #announce(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #problems(): readonly PolicyProblem[] {
    const unreadable = [...(this.#remote?.unreadable ?? [])].map(([object, message]) => ({
      object,
      message,
    }));
    const { endpoints, networks } = this.#options;
    const unenforced = findUnenforced(this.compiler.state, networks, endpoints);
    return [...this.inputs.objects.problems, ...this.inputs.hosts.problems, ...unreadable, ...unenforced];
  }

  #describeStatus(): PolicyStatus | undefined {
    const { nodeName, cluster } = this.#options;
    return describeStatus(nodeName, this.#enforcer.inForce, this.#problems(), cluster?.objectsInForce());
  }
}
