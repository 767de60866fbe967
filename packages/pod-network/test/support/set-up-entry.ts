/** A runtime that sets one pod up, for tests that let it die. Arguments: configuration of `createPodNetwork` and the pod, as JSON. */
import { createPodNetwork, type PodAttachment, type PodNetworkOptions } from '@podwire/pod-network';

const [options, pod] = process.argv.slice(2);
if (options === undefined || pod === undefined)
  throw new Error('set-up-entry is started by tests, inside a private host');
const { bootIdFile, ...more } = JSON.parse(options) as PodNetworkOptions & { bootIdFile: string };
const network = await createPodNetwork({ ...more, system: { bootIdFile } });
await network.setUp(JSON.parse(pod) as PodAttachment);
console.log('attached');
