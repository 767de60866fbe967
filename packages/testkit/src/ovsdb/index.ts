export { type LoggedTransaction, OvsdbServer, type OvsdbServerOptions } from './server.js';
