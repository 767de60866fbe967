export { createOvnModel } from './model.js';
export type { LogicalPort, PortAddress } from './endpoint/attachment.js';
export { planGateway, planGatewayNode, planGatewayPod, planGatewaySubnet } from './gateway/plan-gateway.js';
export type { EgressGateway, GatewayNode, GatewayPod, GatewaySubnet, JoinRange } from './gateway/facts.js';
export { NODE_LINK } from './names.js';
