/** Calico's host endpoints: links of the node itself that have policy. Without any of them nothing of it is in the table. */
import type { Resource } from '@podwire/engine';
import {
  type CompiledEndpoint,
  type EndpointKey,
  hostEndpointsByLink,
  type HostMode,
  type PolicyId,
} from '@podwire/policy';
import type { DirectionChains } from '../chains.js';
import type { RendererOptions } from '../contract.js';
import { type Direction, element, set } from '../names.js';
import type { WantedResources } from '../wanted.js';
import { planFailsafes, usualFailsafes } from './failsafe.js';
import { type HostHook, hostHooks, hostsMap } from './hooks.js';
import { planHook } from './plan-hook.js';
import { selectMode } from './select-mode.js';

interface Dependencies {
  readonly chains: Readonly<Record<Direction, DirectionChains>>;
  readonly wanted: WantedResources;
  readonly options: RendererOptions;
}

interface Group {
  readonly direction: Direction;
  readonly name: string;
}

/** All links of the node that no other host endpoint names. */
const allLinks = '*';

/** Forwarded packets would keep the mark of an allow in front of tracking or translation: this hook takes it off. */
const takesMarks = ({ mode, direction }: HostHook, used: ReadonlySet<HostMode>): boolean =>
  mode === 'forward' && direction === 'ingress' && (used.has('untracked') || used.has('pre-dnat'));

/** A node has few of them, so all are planned again when one changes, or a policy does. */
export class HostEndpoints {
  readonly #dependencies: Dependencies;
  readonly #hosts = new Map<EndpointKey, CompiledEndpoint>();
  readonly #modes = new Map<PolicyId, HostMode>();
  #planned: readonly Resource[] = [];
  #groups: readonly Group[] = [];
  #isStale = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  put(key: EndpointKey, compiled: CompiledEndpoint | undefined): void {
    const isHost = compiled?.kind === 'host-endpoint';
    if (isHost) this.#hosts.set(key, compiled);
    if (isHost || this.#hosts.delete(key)) this.#isStale = true;
  }

  /** @param mode absent: there is no such policy any more */
  putPolicy(id: PolicyId, mode: HostMode | undefined): void {
    if (mode === this.#modes.get(id)) return;
    if (mode === undefined) this.#modes.delete(id);
    else this.#modes.set(id, mode);
    this.#isStale ||= this.#hosts.size > 0;
  }

  /** New resources are there before old ones are released: chains that both use stay. */
  settle(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const { chains, wanted } = this.#dependencies;
    const [planned, groups] = [this.#planned, this.#groups];
    this.#groups = [];
    this.#planned = this.#plan();
    wanted.exchange(planned, this.#planned);
    for (const { direction, name } of groups) chains[direction].release(name);
  }

  #plan(): readonly Resource[] {
    if (this.#hosts.size === 0) return [];
    const { failsafes = usualFailsafes } = this.#dependencies.options;
    const byLink = hostEndpointsByLink(this.#hosts.values());
    const used = new Set(hostHooks.filter((hook) => this.#isUsed(hook)).map(({ mode }) => mode));
    const hooks = hostHooks.filter((hook) => this.#isUsed(hook) || takesMarks(hook, used));
    return [...planFailsafes(failsafes), ...hooks.flatMap((hook) => this.#planHook(hook, byLink, used))];
  }

  #planHook(
    hook: HostHook,
    byLink: ReadonlyMap<string, CompiledEndpoint>,
    used: ReadonlySet<HostMode>,
  ): Resource[] {
    const { podLinkPrefixes, tunnelPorts = [] } = this.#dependencies.options;
    const groups = [...byLink].map(([link, host]) => ({ link, chain: this.#acquire(hook, host) }));
    const others = groups.find(({ link }) => link === allLinks)?.chain;
    const named = groups.filter(({ link }) => link !== allLinks);
    return [
      set({ name: hostsMap(hook), key: ['ifname'], data: 'verdict' }),
      ...named.map(({ link, chain }) =>
        element(hostsMap(hook), [{ type: 'ifname', value: link }], { chain }),
      ),
      planHook(hook, { podLinkPrefixes, tunnelPorts, used, others }),
    ];
  }

  #isUsed({ mode, direction }: HostHook): boolean {
    if (mode === 'normal') return true;
    const hosts = [...this.#hosts.values()];
    return hosts.some((host) => this.#select(host, mode, direction).tiers.length > 0);
  }

  #acquire({ mode, direction }: HostHook, host: CompiledEndpoint): string {
    const name = this.#dependencies.chains[direction].acquire(this.#select(host, mode, direction));
    this.#groups = [...this.#groups, { direction, name }];
    return name;
  }

  #select(host: CompiledEndpoint, mode: HostMode, direction: Direction): CompiledEndpoint[Direction] {
    return selectMode(host[direction], mode, (id) => this.#modes.get(id) ?? 'normal');
  }
}
