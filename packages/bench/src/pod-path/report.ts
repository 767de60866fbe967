import { type Comparison, formatComparisons, evaluate, least, most } from '../thresholds.js';
import { quantile } from '../statistics.js';
import { formatNumber, formatTable } from '../table.js';
import type { PodPathResult } from './run-pod-path.js';

/** Figures of the pod path with their thresholds. */
export function comparePodPath({ runtimes, burst, idle }: PodPathResult): Comparison[] {
  const of = (name: string) => runtimes.find(({ runtime }) => runtime === name);
  const embedded = of('embedded');
  const containerd = of('containerd');
  return [
    ...(embedded === undefined
      ? []
      : [evaluate('manifest to reachable pod, embedded, p50', embedded.reachable.median, 'ms', most(60))]),
    ...(containerd === undefined
      ? []
      : [evaluate("pod agent's own share, containerd, p50", containerd.ownShare.median, 'ms', most(10))]),
    ...(burst.kubelet === undefined
      ? []
      : [
          evaluate(
            `${burst.podwire.pods} pods at once, rate of kubelet's`,
            burst.podwire.podsPerSecond / burst.kubelet.podsPerSecond,
            '×',
            least(1),
          ),
        ]),
    evaluate(`pod agent with ${idle.pods} idle pods`, idle.idleShare * 100, '%', most(5)),
    evaluate(`pod agent with ${idle.pods} idle pods, resident`, idle.residentBytes / 1e6, 'MB', most(200)),
    evaluate('start to first CRI call', quantile(idle.firstCall, 0.5), 'ms', most(400)),
  ];
}

export function formatPodPath(result: PodPathResult): string {
  const { runtimes, burst, idle } = result;
  const times = runtimes.flatMap(({ runtime, reachable, ownShare }) =>
    (
      [
        ['manifest to reachable', reachable],
        ['own share until ready', ownShare],
      ] as const
    ).map(([what, { median, p99, maximum, count }]) => [
      `${runtime}, ${what}`,
      ...[median, p99, maximum].map(formatNumber),
      String(count),
    ]),
  );
  const bursts = (
    [
      ['podwire', burst.podwire],
      ['kubelet 1.20.2', burst.kubelet],
    ] as const
  ).flatMap(([who, one]) =>
    one === undefined ? [] : [[who, formatNumber(one.duration), one.podsPerSecond.toFixed(1)]],
  );
  return [
    ...formatTable([['one pod after the other', 'p50 ms', 'p99 ms', 'max ms', 'pods'], ...times]),
    '',
    ...formatTable([[`${burst.podwire.pods} pods at once, containerd`, 'ms', 'pods/s'], ...bursts]),
    '',
    ...formatComparisons(comparePodPath(result)),
    '',
    'Reachable: from before the manifest is put into the watched directory until a connection to the pod is taken.',
    "Own share: of the pod's trace until it is ready, what lies in no call to the runtime.",
    `At once: until the runtime itself says that all containers run, looked at every 20 ms. Idle: ${idle.idleSeconds} s on a runtime in memory.`,
  ].join('\n');
}
