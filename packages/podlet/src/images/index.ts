export {
  type CollectedImages,
  createImageCollector,
  type ImageCollector,
  type ImageCollectorOptions,
} from './collect-images.js';
export {
  anonymous,
  createCredentials,
  createPullSecretFiles,
  type CredentialOptions,
  type FindCredentials,
  type FindPullSecret,
} from './credentials.js';
export {
  createEnsureImage,
  type EnsureImageOptions,
  type ImageReason,
  readImageUser,
} from './ensure-image.js';
export { type ImageName, parseImageName, showImageName } from './image-name.js';
export {
  type GarbageRule,
  type ImageDisk,
  selectGarbage,
  type StoredImage,
  usualGarbageRule,
} from './select-garbage.js';
