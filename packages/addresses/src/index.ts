export {
  type Address,
  addressAt,
  addressFromBytes,
  addressKey,
  addressToBytes,
  compareAddresses,
  type Family,
  formatAddress,
  parseAddress,
} from './address.js';
export {
  containsAddress,
  containsPrefix,
  formatPrefix,
  hostPrefix,
  lastAddress,
  overlaps,
  parsePrefix,
  type Prefix,
  prefixOf,
  prefixSize,
  splitPrefix,
} from './prefix.js';
