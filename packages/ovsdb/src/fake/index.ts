export { FakeServer, type FakeServerOptions } from './server.js';
