export {
  type CniInputs,
  checkPodManifests,
  type PodManifest,
  readPodManifests,
  toCniInputs,
} from './manifest.js';
