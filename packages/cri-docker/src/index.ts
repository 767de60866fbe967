export { createSandboxService, type SandboxService, type SandboxServiceOptions } from './create-service.js';
export { type Clock, type FaultPoints, type Log, noFaults } from '@podwire/platform';
export { Docker, DockerError } from './docker/index.js';
export type { CredentialPlaces, CredentialProvider } from './images/credential-files.js';
