/** Kinds that a manifest may hold, and the treatment of other objects of Kubernetes. */
import { show, suggest } from '@podwire/apimachinery';
import { type Field } from './field.js';

export const manifestKinds = ['Pod', 'PodList', 'List', 'ConfigMap'];

const template = 'write its spec.template as a Pod';
const advice: Readonly<Record<string, string>> = {
  Deployment: `${template}; replicas are Pods of different names`,
  ReplicaSet: `${template}; replicas are Pods of different names`,
  ReplicationController: `${template}; replicas are Pods of different names`,
  StatefulSet: `${template}; replicas are Pods of different names, and volumeClaimTemplates are hostPath volumes`,
  DaemonSet: `${template}, and give it to each node`,
  Job: `${template} with restartPolicy OnFailure or Never`,
  CronJob: 'write spec.jobTemplate.spec.template as a Pod, and start it from a timer of the system',
  Service:
    'a port of a Pod is reached at the address of the Pod, or as hostPort of its container at the node',
  Ingress:
    'a port of a Pod is reached at the address of the Pod, or as hostPort of its container at the node',
  Secret: 'values that containers read stand in a ConfigMap or in a hostPath volume here',
  PersistentVolumeClaim: 'data that outlives a Pod stands in a hostPath volume',
  Namespace: 'a namespace is there as soon as a Pod names it: metadata.namespace',
};

/** Complains about the kind of an object that is none of these. */
export function refuseKind(kind: Field, known: readonly string[] = manifestKinds): void {
  const name = kind.value;
  const instead = typeof name === 'string' && Object.hasOwn(advice, name) ? advice[name] : undefined;
  if (instead !== undefined) return kind.complain(`Podwire runs Pods, not a ${String(name)}: ${instead}`);
  kind.complain(mustBe(kind, known));
}

/** `must be v1, is "v2"` */
export function mustBe(field: Field, words: readonly string[]): string {
  const found = field.absent ? 'is missing' : `is ${show(field.value)}`;
  const near = typeof field.value === 'string' ? suggest(field.value, words) : '';
  return `must be ${words.join(' or ')}, ${found}${near}`;
}
