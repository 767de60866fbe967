export * from './fake-api-server.js';
