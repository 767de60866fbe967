export * from './messages.js';
export * from './services.js';
export * from './error.js';
export { type ConnectOptions, connectCri, type CriConnection } from './client/connect.js';
export { type CriServer, serveCri, type ServeOptions } from './server/serve.js';
export { type ApiVersion, apiVersions, maxMessageBytes, type MethodName } from './methods.js';
export { validateRequest } from './validate/validate.js';
export { hasLabels, matchesContainerFilter, matchesSandboxFilter } from './filters.js';
