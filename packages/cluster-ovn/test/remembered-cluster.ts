/** A cluster in memory that is written by hand, and a planner that follows it. */
import {
  ClusterMemory,
  type OvnPlan,
  OvnPlanner,
  type OvnWrite,
  planOvnCluster,
  type PodAnswer,
  type SubnetCursors,
} from '@podwire/cluster-ovn';
import { keysBelow, nodeKind, nodeLeaseKind, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import { type AnyObject, checkObject, encodeStoredObject, objectKey, toKeyWrite } from '@podwire/objects';
import { encodeObject } from '@podwire/store';
import { createMemoryStore } from '@podwire/store/memory';
import { options } from './cluster-look.js';

export const keys = keysBelow('/podwire');

const apiVersion = 'kubeovn.io/v1';

/** Deeds of a plan, in an order of their own. */
export type Deeds = Readonly<Record<'changes' | 'answers' | 'problems' | 'facts' | 'cursors', unknown>>;

export class RememberedCluster {
  readonly memory = new ClusterMemory({ store: createMemoryStore(), keys, clock: { now: () => 0 } });
  planner: OvnPlanner | undefined;
  /** How often the planner has gone on from what it knew. */
  followed = 0;
  #cursors: SubnetCursors = {};
  #revision = 0;

  static async start(): Promise<RememberedCluster> {
    const cluster = new RememberedCluster();
    await cluster.memory.list(new AbortController().signal);
    return cluster;
  }

  /** @param value absent: it is deleted */
  write(key: string, value?: string): void {
    const write = value === undefined ? { op: 'delete' as const, key } : { op: 'put' as const, key, value };
    this.memory.note([{ condition: { key, expect: 'absent' }, write }], ++this.#revision);
  }

  putPod(record: OvnPodRecord): void {
    this.write(keys.ovnPod(record.namespace, record.name), encodeObject(ovnPodKind, record));
  }

  putObject(kind: string, name: string, spec: Readonly<Record<string, unknown>>): void {
    const checked = checkObject({ apiVersion, kind, metadata: { name }, spec });
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    this.write(keyOf(kind, name), encodeStoredObject(checked.object, undefined, this.#revision));
  }

  /** @param facts of the model `ovn` */
  putNode(name: string, ipv4: string, facts: Readonly<Record<string, string>> = {}): void {
    const fixed = { instance: `${name}-1`, version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 };
    this.write(
      keys.node(name),
      encodeObject(nodeKind, { ...fixed, name, addresses: { ipv4: `${ipv4}/24` }, facts: { ovn: facts } }),
    );
  }

  putLease(node: string): void {
    this.write(keys.nodeLease(node), encodeObject(nodeLeaseKind, { node, instance: `${node}-1`, since: 0 }));
  }

  /** Plans by what has changed, and by all that is there. */
  plan(): { readonly followed: Deeds; readonly whole: Deeds; readonly plan: Omit<OvnPlan, 'facts'> } {
    const changes = this.memory.takeChanges();
    const isFollowed = changes !== undefined && this.planner?.follow(changes) !== undefined;
    if (isFollowed) this.followed += 1;
    const view = this.memory.view();
    const planner = isFollowed ? this.planner! : new OvnPlanner(view, options, this.#cursors);
    this.planner = planner;
    const whole = planOvnCluster(view, options, this.#cursors);
    const plan = planner.plan();
    this.#cursors = plan.cursors;
    return {
      followed: deedsOf({ ...plan, facts: planner.facts }),
      whole: deedsOf({ ...whole, changes: whole.changes.filter((write) => !isOfStatus(write)) }),
      plan,
    };
  }

  /** Of what has changed, and of all; carried out. After {@link plan}. */
  writeStatuses(): { readonly followed: unknown; readonly whole: unknown } {
    const view = this.memory.view();
    const writes = this.planner!.planStatuses(view.objects, view.now);
    const whole = planOvnCluster(view, options).changes.filter(isOfStatus);
    this.carryOut({ changes: writes, answers: [] });
    return { followed: sortTexts(writes.map(describeWrite)), whole: sortTexts(whole.map(describeWrite)) };
  }

  carryOut({ changes, answers }: Pick<OvnPlan, 'changes' | 'answers'>): void {
    const writes = changes.map((change) => toKeyWrite(change, keys.root, 0));
    for (const { write } of writes) this.write(write.key, write.op === 'put' ? write.value : undefined);
    for (const answer of answers) this.#answer(answer);
  }

  #answer({ id, annotations }: PodAnswer): void {
    const { record } = this.memory.podRecord(id)!;
    this.putPod({ ...record, annotations: { ...record.annotations, ...annotations } });
  }
}

export const keyOf = (kind: string, name: string): string => objectKey(keys.root, { apiVersion, kind, name });

const isOfStatus = ({ reason }: OvnWrite): boolean => reason === 'its status has changed';

const sortTexts = (texts: readonly string[]): string[] => [...texts].sort();

const describeWrite = ({ before, after, reason }: OvnWrite): string =>
  JSON.stringify([before?.object.metadata.name, before?.revision, sortFields(after), reason]);

const sortFields = (object: AnyObject | undefined): unknown =>
  object && Object.fromEntries(Object.entries(object).sort());

function deedsOf({ changes, answers, problems, facts, cursors }: OvnPlan): Deeds {
  return {
    changes: sortTexts(changes.map(describeWrite)),
    answers: sortTexts(answers.map((answer) => JSON.stringify(answer))),
    problems: sortTexts(problems.map(({ code, message }) => `${code} ${message}`)),
    ...{ facts, cursors },
  };
}
