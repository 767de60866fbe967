export * from './messages.js';
export * from './services.js';
export * from './error.js';
