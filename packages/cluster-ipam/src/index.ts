export { type BlockIndex, createBlockIndex } from './claims/block-index.js';
export type * from './contract.js';
export {
  type SavedStateFileSystem,
  formatSavedState,
  openSavedState,
  parseSavedState,
} from './holdings/file.js';
export { createNodeAddressing } from './node-addressing.js';
export { type Labels, parseSelector, type Selector } from './selector.js';
