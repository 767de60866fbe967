export { measureFollowing, type FollowingFigures, measurePeers, type PeerFigures } from './one-node.js';
export { defaultSimulation, simulate, type SimulationOptions, type SimulationResult } from './simulate.js';
export { createVirtualClock, type VirtualClock } from './virtual-clock.js';
