/** The pools of the cluster as this node may use them. */
import { type Address, containsAddress, containsPrefix, parsePrefix, type Prefix } from '@podwire/addresses';
import type { Pool } from '@podwire/cluster-state';
import { describeError } from '@podwire/errors';
import type { Ipam, PoolSpec } from '@podwire/ipam';
import type { AllocationState } from './affinities/allocation-state.js';
import type { Problems } from './events.js';
import { type Labels, parseSelector, type Selector } from './selector.js';

export interface NodePoolsOptions {
  /** By name; those of the saved state while the store is away. */
  readonly pools: () => ReadonlyMap<string, Pool>;
  readonly labels: Labels;
  readonly taken: () => readonly Prefix[];
  readonly state: AllocationState;
  /** By network. */
  readonly ipams: ReadonlyMap<string, Ipam>;
  readonly problems: Problems;
}

export const familyOf = ({ cidr }: Pick<Pool, 'cidr'>): 4 | 6 => parsePrefix(cidr).family;

export class NodePools {
  readonly #options: NodePoolsOptions;
  readonly #selectors = new Map<string, Selector>();

  constructor(options: NodePoolsOptions) {
    this.#options = options;
  }

  all(): ReadonlyMap<string, Pool> {
    return this.#options.pools();
  }

  /** In order of names. */
  ofNetwork(network: string): Pool[] {
    const pools = [...this.all().values()].filter((pool) => pool.network === network);
    return pools.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  around(address: Address): Pool | undefined {
    return [...this.all().values()].find(({ cidr }) => containsAddress(parsePrefix(cidr), address));
  }

  /** The IPAM of the network whose pool contains the prefix. */
  ipamAround({ address }: Prefix): Ipam | undefined {
    const pool = this.around(address);
    return pool === undefined ? undefined : this.#options.ipams.get(pool.network);
  }

  /** Reports if this node may claim blocks and allocate from the pool. */
  isUsable(pool: Pool): boolean {
    return !pool.disabled && !pool.deleting && this.#selectsNode(pool);
  }

  /** An invalid selector selects no node: a pool on too few nodes is better than pods in a wrong zone. */
  #selectsNode({ name, nodeSelector }: Pool): boolean {
    const { problems, labels } = this.#options;
    const topic = `selector of pool ${name}`;
    try {
      const selector = this.#selectors.get(nodeSelector) ?? parseSelector(nodeSelector);
      this.#selectors.set(nodeSelector, selector);
      problems.delete(topic);
      return selector(labels);
    } catch (error) {
      problems.set(topic, `POOL_INVALID: pool ${name}: nodeSelector: ${describeError(error)}`);
      return false;
    }
  }

  /** For the node's IPAM: a pool that the node may not use (any more) is disabled, but keeps its leases. */
  toSpec(pool: Pool): PoolSpec {
    const { name, cidr, blockSize, reserved, assignment, allocation } = pool;
    const spec = { name, cidr, blockSize, reserved, assignment, allocation };
    return this.isUsable(pool) ? spec : { ...spec, disabled: true, whyDisabled: this.describeUnusable(pool) };
  }

  /** Why this node may not use the pool, after the pool's name. */
  describeUnusable({ disabled, deleting, nodeSelector }: Pool): string {
    if (deleting) return 'is being deleted';
    return disabled ? 'is disabled' : `is for nodes with ${nodeSelector}`;
  }

  /** Reports if the node may own one more block of the pool. @param claiming how many it is claiming now */
  hasRoom(pool: Pool, claiming = 0): boolean {
    if (this.isTaken(pool)) return false;
    const most = pool.allocation === 'node-cidr' ? 1 : (pool.maxBlocksPerNode ?? Infinity);
    const prefix = parsePrefix(pool.cidr);
    const own = this.#options.state.blocks().filter((each) => containsAddress(prefix, each.prefix.address));
    return own.length + claiming < most;
  }

  /** Reports if the whole pool is in use elsewhere, as the prefix of a link, for example. */
  isTaken({ cidr }: Pool): boolean {
    const pool = parsePrefix(cidr);
    return this.#options.taken().some((part) => containsPrefix(part, pool));
  }
}
