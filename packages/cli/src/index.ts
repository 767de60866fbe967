export {
  type CniInputs,
  checkPodManifests,
  type PodManifest,
  readPodManifests,
  toCniInputs,
} from './manifest.js';
export { parseQuantity } from '@podwire/pod-network/inputs';
