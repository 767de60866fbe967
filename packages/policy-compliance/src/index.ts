export { type PolicedNode } from './cluster.js';
export { changesOf } from './changes.js';
export { type Crossing, listCrossings, makeJourney, type NodeEnd, type PacketHeaders } from './journeys.js';
export { checkCases, checkRandomClusters, type MakeNode } from './suite.js';
