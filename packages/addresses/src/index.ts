export {
  type Address,
  addressAt,
  addressBits,
  addressFromBytes,
  addressKey,
  addressToBytes,
  bracketHost,
  compareAddresses,
  embeddedIPv4,
  type Family,
  familyOf,
  firstOfEachFamily,
  formatAddress,
  parseAddress,
  tryParseAddress,
} from './address.js';
export { isOfContainers, type Interfaces, nodeAddresses } from './node-addresses.js';
export {
  containsAddress,
  containsPrefix,
  formatPrefix,
  hostPrefix,
  type InterfaceAddress,
  lastAddress,
  overlaps,
  parseInterfaceAddress,
  parsePrefix,
  type Prefix,
  prefixOf,
  prefixSize,
  splitPrefix,
} from './prefix.js';
export { specialKinds } from './special.js';
