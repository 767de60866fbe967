/** ConfigMaps of the API server, asked for when a pod needs them: what is mounted is of the moment when the pod was prepared. */
import type { FindConfigMap } from '../files/config-map.js';
import { type KubernetesClient, KubernetesError } from '@podwire/kubernetes-client';

interface ApiConfigMap {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** @returns what finds one, or undefined when there is none; it throws what the client throws */
export function createConfigMapFinder(client: KubernetesClient): FindConfigMap {
  return async (namespace, name, signal) => {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
    try {
      const { data = {}, binaryData = {} } = await client.request<ApiConfigMap>('GET', path, { signal });
      return { data, binaryData };
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) return undefined;
      throw error;
    }
  };
}
