/** Users of addresses over time, as the runtimes of all nodes saw them. */
export interface Use {
  readonly address: string;
  readonly node: string;
  readonly pod: string;
  /** `performance.now()` when ADD had answered. */
  readonly from: number;
  /** When DEL was sent, or the node was given up; Infinity: still there. */
  until: number;
}

export interface Journal {
  readonly uses: readonly Use[];
  note(node: string, pod: string, addresses: readonly string[]): void;
  /** The pod ends here. */
  end(pod: string): void;
  /** From now on the pods of the node do not count: it was cut off for longer than the cluster waits. */
  giveUp(node: string): void;
  /** Two that had the same address at the same time. */
  doubled(): string[];
}

export function openJournal(): Journal {
  const uses: Use[] = [];
  const endAll = (isMeant: (use: Use) => boolean): void => {
    for (const use of uses) {
      if (use.until === Infinity && isMeant(use)) use.until = performance.now();
    }
  };
  return {
    uses,
    note(node, pod, addresses) {
      const from = performance.now();
      for (const address of addresses) uses.push({ address, node, pod, from, until: Infinity });
    },
    end: (pod) => endAll((use) => use.pod === pod),
    giveUp: (node) => endAll((use) => use.node === node),
    doubled() {
      const addresses = new Set(uses.map(({ address }) => address));
      return [...addresses].flatMap((each) => findOverlaps(uses.filter(({ address }) => address === each)));
    },
  };
}

function findOverlaps(uses: readonly Use[]): string[] {
  const inOrder = uses.toSorted((a, b) => a.from - b.from);
  return inOrder.slice(1).flatMap((use, index) => {
    const before = inOrder.slice(0, index + 1).find(({ until }) => until > use.from);
    if (before === undefined) return [];
    return [`${use.address}: ${before.pod} on ${before.node} and ${use.pod} on ${use.node}`];
  });
}
