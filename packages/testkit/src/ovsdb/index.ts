export { OvsdbServer, type OvsdbServerOptions } from './server.js';
