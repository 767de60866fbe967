/** `podwire testbed pod add`, `annotate` and `delete`. */
import { compact } from '@podwire/platform';
import {
  openTestbed,
  type PodRequest,
  readAnnotationChanges,
  readAnnotations,
  readLabels,
  readPodName,
  readPorts,
} from '@podwire/testbed';
import { withInterrupt } from '../interrupt.js';
import { type Io, writeJson, writeLines } from '../io.js';
import { chooseTestbed } from './choose.js';
import { viewPod } from './observe.js';

export interface PodCall {
  /** Of the testbed. */
  readonly name: string | undefined;
  /** `NAMESPACE/NAME`. */
  readonly pod: string;
  readonly json: boolean;
}

export interface PodAddCall extends PodCall {
  readonly node: string;
  /** `KEY=VALUE`. */
  readonly labels: readonly string[];
  /** `NAME:PROTOCOL:NUMBER`. */
  readonly ports: readonly string[];
  /** `KEY=VALUE`. */
  readonly annotations: readonly string[];
}

/** When it resolves, the plugin has answered: the pod has its addresses, and its policy is in force. */
export async function addTestbedPod(io: Io, call: PodAddCall): Promise<void> {
  const request: PodRequest = {
    ...readPodName(call.pod),
    labels: readLabels(call.labels),
    ports: readPorts(call.ports),
    annotations: readAnnotations(call.annotations),
  };
  const testbed = await openTestbed(await chooseTestbed(io, call.name));
  try {
    testbed.node(call.node);
    const pod = await withInterrupt((signal) => testbed.addPod(call.node, request, signal));
    const view = viewPod(testbed, pod);
    if (call.json) return writeJson(io, view);
    return writeLines(io, [`${view.namespace}/${view.name} on ${view.node}: ${view.addresses.join(' ')}`]);
  } finally {
    await testbed.release();
  }
}

export interface PodAnnotateCall extends PodCall {
  /** `KEY=VALUE`, or `KEY-`. */
  readonly changes: readonly string[];
}

/** When it resolves, the store has them: the controller and the node of the pod follow. */
export async function annotateTestbedPod(
  io: Io,
  { name, pod, changes, json }: PodAnnotateCall,
): Promise<void> {
  const [wanted, wantedChanges] = [readPodName(pod), readAnnotationChanges(changes)];
  const testbed = await openTestbed(await chooseTestbed(io, name));
  try {
    const annotated = await withInterrupt((signal) => testbed.annotatePod(wanted, wantedChanges, signal));
    if (json) return writeJson(io, viewPod(testbed, annotated));
    return writeLines(io, [`${wanted.namespace}/${wanted.name} is annotated`]);
  } finally {
    await testbed.release();
  }
}

export interface PodDeleteCall extends PodCall {
  /** Where the pod has to be; any node when absent. */
  readonly node?: string;
}

/** @throws PodwireError POD_UNKNOWN also where the pod is on another node than the one that is named */
export async function deleteTestbedPod(io: Io, { name, pod, node, json }: PodDeleteCall): Promise<void> {
  const wanted = readPodName(pod);
  const testbed = await openTestbed(await chooseTestbed(io, name));
  try {
    await testbed.removePod({ ...wanted, ...compact({ node }) });
    if (json) return writeJson(io, { deleted: wanted });
    return writeLines(io, [`${wanted.namespace}/${wanted.name} is gone`]);
  } finally {
    await testbed.release();
  }
}
