/** Routes of the API for policy. */
import { PodwireError } from '@podwire/errors';
import type { ApiRoutes } from '@podwire/local-api';
import type { ClusterSide } from '../endpoints/context.js';
import type { NodePolicy } from '../policy/contract.js';
import { explainConnection } from '../policy/look/explain.js';
import { decideConnections } from '../policy/look/verdicts.js';
import { viewHost, viewPod, viewPolicy } from '../policy/look/views.js';

interface PolicyApi {
  readonly context: Pick<ClusterSide, 'policy'>;
}

export const policyRoutes: ApiRoutes<PolicyApi> = {
  'GET /v1/policy': (api) => ({ json: viewPolicy(requirePolicy(api)) }),
  'GET /v1/policy/pods/*': (api, { rest }) => ({ json: viewPod(requirePolicy(api), rest) }),
  'GET /v1/policy/hosts/*': (api, { rest }) => ({ json: viewHost(requirePolicy(api), rest) }),
  'POST /v1/policy/explain': (api, { body }) => ({ json: explainConnection(requirePolicy(api), body) }),
  'POST /v1/policy/verdicts': (api, { body }) => ({
    json: { verdicts: decideConnections(requirePolicy(api), body) },
  }),
  'GET /v1/policy/drops': (api, { signal }) => ({ lines: requirePolicy(api).drops(signal) }),
};

/** @throws PodwireError REQUEST_INVALID where policy is switched off */
function requirePolicy({ context }: PolicyApi): NodePolicy {
  if (context.policy !== undefined) return context.policy;
  throw new PodwireError(
    'REQUEST_INVALID',
    'policy is switched off: the configuration says `policy.enabled: false`',
    {
      action: 'Switch it on in the configuration, and start the agent again.',
    },
  );
}
