export { BlockIndex } from './blocks/block-index.js';
export { formatSavedState, parseSavedState } from './affinities/saved-state.js';
export type * from './contract.js';
export { createNodeAddressing } from './node-addressing.js';
export { type Labels, parseSelector, type Selector } from './selector.js';
