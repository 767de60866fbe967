/** Records of pods whose rows are being made, until they are there. */
import type { PodRecord } from '@podwire/cluster-ovn';
import type { OvnPodRecord } from '@podwire/cluster-state';

export class PodNews {
  #records: Map<string, OvnPodRecord | undefined> = new Map();
  #isAll = false;

  /** All there are. */
  begin(records: readonly PodRecord[]): void {
    this.#isAll = true;
    this.#records = new Map(records.map(({ record }) => [`${record.namespace}/${record.name}`, record]));
  }

  /** @param record undefined: it is gone */
  note(id: string, record: OvnPodRecord | undefined): void {
    this.#records.set(id, record);
  }

  /**
   * Since the last call; all there are where `isAll`.
   * @param isInPlace those for which it is false come later
   */
  take(isInPlace: (id: string) => boolean): {
    readonly records: ReadonlyMap<string, OvnPodRecord | undefined>;
    readonly isAll: boolean;
    /** Those that come later. */
    readonly waiting: ReadonlyMap<string, OvnPodRecord>;
  } {
    const [ready, later] = [new Map<string, OvnPodRecord | undefined>(), new Map<string, OvnPodRecord>()];
    for (const [id, record] of this.#records)
      if (record === undefined || isInPlace(id)) ready.set(id, record);
      else later.set(id, record);
    const news = { records: ready, isAll: this.#isAll, waiting: later };
    this.#records = later;
    this.#isAll = false;
    return news;
  }
}
