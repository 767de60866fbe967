export { type ApiSourceOptions, createApiSource } from './api-source.js';
export { createConfigMapFinder } from './config-maps.js';
export { createEventWriter, type EventWriter, type EventWriterOptions } from './event-writer.js';
export { createPullSecretFinder } from './pull-secrets.js';
export { createStatusWriter, type StatusWriter, type StatusWriterOptions } from './status-writer.js';
