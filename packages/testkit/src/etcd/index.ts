export { Etcd, type EtcdOptions, type EtcdSpec, startEtcd } from './cluster.js';
export { type Certificate, createAuthority, type CertificateAuthority } from './certificates.js';
export type { EtcdMember } from './member.js';
export { findPorts } from './ports.js';
