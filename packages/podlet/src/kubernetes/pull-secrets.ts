/** Pull secrets of the API server, asked for at each pull. */
import type { FindPullSecret } from '../images/credentials.js';
import { type KubernetesClient, KubernetesError } from '@podwire/kubernetes-client';

interface ApiSecret {
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** `kubernetes.io/dockerconfigjson`, and `kubernetes.io/dockercfg` before it. */
const keys = ['.dockerconfigjson', '.dockercfg'];

/** @returns what finds one; it throws what the client throws */
export function createPullSecretFinder(client: KubernetesClient): FindPullSecret {
  return async ({ metadata: { namespace } }, name) => {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`;
    try {
      // The client has a deadline of its own.
      const { signal } = new AbortController();
      const { data = {} } = await client.request<ApiSecret>('GET', path, { signal });
      const text = keys.map((key) => data[key]).find((each) => each !== undefined);
      return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
    } catch (error) {
      if (error instanceof KubernetesError && error.status === 404) return undefined;
      throw error;
    }
  };
}
