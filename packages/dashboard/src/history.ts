/** The server's memory of rounds that are over: how pools filled, and which resources drifted. Each has a cap. */
import type { NodeAnswers } from './answers.js';
import type { DriftRow, PoolRow, TrendPoint } from './shapes.js';
import { poolKey } from './view/pools.js';

/** Ten minutes of points that are at least five seconds apart. */
const trendStep = 5_000;
export const mostPoints = 120;
export const mostDrifts = 200;
/** A cluster has few pools; names that come and go must not fill the memory. */
const mostPools = 500;

export class History {
  readonly #trends = new Map<string, readonly TrendPoint[]>();
  #drifts: readonly DriftRow[] = [];
  /** When the latest that was noted happened, by node and kind. */
  readonly #noted = new Map<string, number>();

  get trends(): ReadonlyMap<string, readonly TrendPoint[]> {
    return this.#trends;
  }

  /** The latest first. */
  get drifts(): readonly DriftRow[] {
    return this.#drifts;
  }

  notePools(at: number, pools: readonly Pick<PoolRow, 'network' | 'name' | 'used'>[]): void {
    const keys = new Set(pools.map(poolKey));
    for (const key of this.#trends.keys()) if (!keys.has(key)) this.#trends.delete(key);
    for (const pool of pools.slice(0, mostPools)) {
      const before = this.#trends.get(poolKey(pool)) ?? [];
      const last = before.at(-1);
      if (last !== undefined && at - last.at < trendStep) continue;
      this.#trends.set(poolKey(pool), [...before, { at, used: pool.used }].slice(-mostPoints));
    }
  }

  noteDrift(answers: readonly NodeAnswers[]): void {
    const fresh = answers.flatMap((each) => [...this.#ofReconcile(each), ...this.#ofEvents(each)]);
    if (fresh.length === 0) return;
    this.#drifts = [...fresh, ...this.#drifts].toSorted((a, b) => b.at - a.at).slice(0, mostDrifts);
  }

  /** Drift that the agent found in its latest round. */
  #ofReconcile({ name, status, endpoints }: NodeAnswers): DriftRow[] {
    const last = status?.lastReconcile;
    if (last === undefined || last === null || !this.#isNews(`${name} round`, last.startedAt)) return [];
    const pods = new Map(endpoints.map(({ key, pod }) => [key, pod]));
    return last.changes.slice(0, mostDrifts).map(({ owner = '', action, what }): DriftRow => {
      const pod = pods.get(owner.replace(/^endpoint:/, ''));
      const podName = pod?.name === undefined ? undefined : `${pod.namespace ?? 'default'}/${pod.name}`;
      return { at: last.startedAt, node: name, action, what, owner: podName ?? owner, detail: '' };
    });
  }

  /** Drift that it repaired because of an event of the kernel; it keeps a few of them. */
  #ofEvents({ name, status }: NodeAnswers): DriftRow[] {
    const known = this.#noted.get(`${name} events`) ?? -Infinity;
    const rows = (status?.drift?.last ?? []).map(({ at, owner, what, action, by, error }): DriftRow => {
      const detail = error ?? (by === undefined ? '' : `by ${by}`);
      return { at: Date.parse(at), node: name, action, what, owner, detail };
    });
    const fresh = rows.filter(({ at }) => at > known);
    if (fresh.length > 0) this.#noted.set(`${name} events`, Math.max(...fresh.map(({ at }) => at)));
    return fresh;
  }

  #isNews(key: string, at: number): boolean {
    if (this.#noted.get(key) === at) return false;
    this.#noted.set(key, at);
    return true;
  }
}
