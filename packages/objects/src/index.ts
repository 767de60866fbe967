export * from './contract.js';
export { type PortNumbers, protocolNumbers, readPorts, readProtocol } from './kinds/calico/text.js';
export { serviceNameLabel } from './kinds/core/endpoint-slice.js';
export { kinds } from './kinds/index.js';
export {
  type AddressRange,
  formatRange,
  mergeRanges,
  parseExcludeIps,
} from './kinds/kube-ovn/address-ranges.js';
export { type GatewayNode, parseGatewayNodes } from './kinds/kube-ovn/gateway-nodes.js';
export { providerBridge } from './kinds/kube-ovn/annotation-names.js';
export { findSubnetConflicts, type SubnetConflict } from './kinds/kube-ovn/subnet-conflicts.js';
export { rangesOf, type SubnetRange } from './kinds/kube-ovn/subnet-ranges.js';
export { defaultProvider, defaultVpc } from './kinds/kube-ovn/text.js';
export { subject as policySubjectSchema } from './kinds/network-policy-api/peers.js';
export { globalVnid, highestVnid, isVnid } from './kinds/openshift/vnid.js';
export { networkAnnotations, type NetworkChange, parseNetworkChange } from './kinds/openshift/annotations.js';
export { labelSelector as labelSelectorSchema } from './kinds/shared/label-selector.js';
export { formatLabelSelector } from './kinds/shared/format-selector.js';
export type * from './kinds/types.js';
export { type CheckedObject, checkObject, type CheckOptions } from './reading/check-object.js';
export type { FieldProblem } from './reading/issues.js';
export {
  formatObjectProblem,
  type ObjectText,
  type ReadObject,
  readObjects,
  type RefusedObject,
} from './reading/read-objects.js';
export { explainField, type FieldInfo } from './reading/schema-tree.js';
export { findKind, groupOf, qualifiedName, requireKind } from './registry.js';
export { createStoreSource, type StoreSourceOptions } from './sources/store-source.js';
export { mayBeRefused, requireCompatible } from './sources/neighbours.js';
export { isEqual } from './sources/equal.js';
export { DecodeCache } from './sources/decode-cache.js';
export { type GroupLook, type ObjectCache, ofKind, readGroup } from './sources/read-group.js';
export {
  type KeyWrite,
  type ObjectWrite,
  toKeyWrite,
  writeChanges,
  type WriteChangesOptions,
  writeKeys,
  type WriteKeysOptions,
} from './sources/write-changes.js';
export { withStatusOf } from './sources/status.js';
export { keysOf } from './selectors/keys.js';
export { parseSelector, type ParsedSelector, type ParseOptions } from './selectors/parse-selector.js';
export type { Selector } from './selectors/selector.js';
export type { SelectorProblem } from './selectors/tokens.js';
export { createDirectorySource, type DirectorySourceOptions } from './sources/directory-source.js';
export {
  decode as decodeStoredObject,
  encode as encodeStoredObject,
  groupPrefix as objectGroupPrefix,
  keyOf as objectKey,
  objectsPrefix,
} from './sources/store-object.js';
