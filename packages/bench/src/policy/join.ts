/**
 * A pod of another node that many selectors take in at once, on a node that has rules for all of them: compiler, renderer, engine and
 * the packet filter of the real kernel, in a machine of its own.
 */
import type { InputChange, Selector } from '@podwire/policy';
import { createPrivateHost } from '@podwire/testkit';
import { summarize, type Summary } from '../statistics.js';
import { label, podInput, policyInput } from './inputs.js';
import { KernelPath, node, type Taken } from './kernel-path.js';

export interface JoinOptions {
  readonly selectors: number;
  /** Pods of other nodes; each selector takes in one of twenty. */
  readonly knownPods: number;
  readonly rounds: number;
}

/** Milliseconds. */
export interface JoinFigures {
  readonly selectors: number;
  /** From the change to the answer of the kernel. */
  readonly wall: Summary;
  readonly compile: Summary;
  readonly render: Summary;
  readonly exchange: Summary;
  /** Time of the process in the kernel for one join: the mean, since the kernel counts in larger steps. */
  readonly kernel: number;
  /** The same for the pod's leaving. */
  readonly leave: { readonly wall: Summary; readonly kernel: number };
}

const patience = 120_000;

export async function measureJoins(options: JoinOptions, signal: AbortSignal): Promise<JoinFigures> {
  const host = await createPrivateHost({ name: 'join' });
  try {
    const program = [process.execPath, import.meta.filename, JSON.stringify(options)];
    return JSON.parse(await host.run(program, { timeout: patience, signal })) as JoinFigures;
  } finally {
    await host.close();
  }
}

const namespace = 'shop';

const pod = (name: string, on: string, labels: Readonly<Record<string, string>>, last: number): InputChange =>
  podInput(namespace, name, on, {
    labels,
    addresses: [`10.${(last >> 16) & 255}.${(last >> 8) & 255}.${last & 255}`],
  });

/** No two of them select the same words, so each has a set of its own. */
function policyAt(index: number): InputChange {
  const peers: Selector = {
    is: 'or',
    of: [label('team', `${index % 20}`), label('joins', 'yes', `${index}`)],
  };
  const subject = { namespaces: { is: 'all' }, pods: label('app', 'web') } as const;
  return policyInput(namespace, `policy-${index}`, subject, { port: 8_000 + index, pods: peers });
}

/** Rounds whose figures do not count. */
const warmUp = 10;

async function joinAndLeave({ selectors, knownPods, rounds }: JoinOptions): Promise<JoinFigures> {
  const path = new KernelPath();
  await path.start();
  const known = Array.from({ length: knownPods }, (_, index) =>
    pod(`pod-${index}`, 'far', { team: `${index % 20}` }, 0x10000 + index),
  );
  const policies = Array.from({ length: selectors }, (_, index) => policyAt(index));
  const link = 'cali-web';
  const value = { link, endpoint: `${namespace}/web`, addresses: [] };
  await path.take([...known, ...policies, pod('web', node, { app: 'web' }, 1)], [{ link, value }]);
  const joins: Taken[] = [];
  const leaves: Taken[] = [];
  for (let round = -warmUp; round < rounds; round++) {
    const joined = await path.take([pod('joiner', 'far', { joins: 'yes' }, 2)]);
    const left = await path.take([{ topic: 'pod', key: `${namespace}/joiner`, value: undefined }]);
    if (round < 0) continue;
    joins.push(joined);
    leaves.push(left);
  }
  await path.close();
  return describe(selectors, joins, leaves);
}

function describe(selectors: number, joins: readonly Taken[], leaves: readonly Taken[]): JoinFigures {
  const of = (all: readonly Taken[], part: keyof Taken): Summary => summarize(all.map((one) => one[part]));
  const mean = (all: readonly Taken[]): number =>
    all.reduce((sum, { kernel }) => sum + kernel, 0) / all.length;
  return {
    selectors,
    wall: of(joins, 'wall'),
    compile: of(joins, 'compile'),
    render: of(joins, 'render'),
    exchange: of(joins, 'exchange'),
    kernel: mean(joins),
    leave: { wall: of(leaves, 'wall'), kernel: mean(leaves) },
  };
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(
    JSON.stringify(await joinAndLeave(JSON.parse(process.argv[2] ?? '{}') as JoinOptions)),
  );
