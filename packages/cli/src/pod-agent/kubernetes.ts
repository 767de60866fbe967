/** The side towards an API server: pods come from it, status and events go to it. Loaded only when it is asked for. */
import type { Clock, FindPullSecret, Pod, PodSource, StatusSink } from '@podwire/podlet';
import type { createConfigMapFinder } from '@podwire/podlet/kubernetes';
import type { Log } from '@podwire/platform';
import type { PodAgentSettings } from './settings.js';

export interface KubernetesSide {
  readonly source: PodSource;
  readonly sink: StatusSink;
  readonly findConfigMap: ReturnType<typeof createConfigMapFinder>;
  readonly findPullSecret: FindPullSecret;
  /** Called when the server does not take the status of a pod, and without a message when it does again. */
  onRefusal(listener: (pod: Pod, message: string | undefined) => void): void;
  close(): Promise<void>;
}

/** Not those of files and URLs. */
export function isOfApi(pod: Pod): boolean {
  return pod.metadata.annotations['kubernetes.io/config.source'] === 'api';
}

/** @throws PodwireError CONFIG_INVALID for a kubeconfig that cannot be used */
export async function openKubernetes(
  settings: PodAgentSettings,
  clock: Clock,
  log: Log,
  runtimeName: string,
): Promise<KubernetesSide> {
  const [{ KubernetesClient, loadKubeconfig }, kubernetes] = await Promise.all([
    import('@podwire/kubernetes-client'),
    import('@podwire/podlet/kubernetes'),
  ]);
  const client = new KubernetesClient(await loadKubeconfig(settings.kubeconfig ?? ''), {
    onTrouble: (message) => log.warn({}, message),
  });
  const node = settings.nodeName;
  let tellRefusal: Parameters<KubernetesSide['onRefusal']>[0] = () => undefined;
  const statuses = kubernetes.createStatusWriter({
    client,
    clock,
    runtimeName,
    onTrouble: (message) => log.warn({}, message),
    onRefusal: (pod, message) => tellRefusal(pod, message),
  });
  const events = kubernetes.createEventWriter({ client, node });
  return {
    source: kubernetes.createApiSource({ client, node, clock, random: Math.random }),
    sink: {
      statusChanged: (pod, status) => isOfApi(pod) && statuses.statusChanged(pod, status),
      terminated: (pod, status) => {
        if (!isOfApi(pod)) return;
        statuses.statusChanged(pod, status);
        statuses.terminated(pod);
      },
      event: (pod, event) => isOfApi(pod) && events.event(pod, event),
    },
    findConfigMap: kubernetes.createConfigMapFinder(client),
    findPullSecret: kubernetes.createPullSecretFinder(client),
    onRefusal: (listener) => void (tellRefusal = listener),
    close: async () => {
      await Promise.all([statuses.close(), events.close()]);
      await client.close();
    },
  };
}
