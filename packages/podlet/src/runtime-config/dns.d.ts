import type { Pod } from '@podwire/pod-spec';
export interface PodDns extends DnsSettings {
    /** What had to be left out and why; for an event `DNSConfigForming`. */
    readonly warnings: readonly string[];
}
export interface DnsNode {
    readonly clusterDns: readonly string[];
    readonly clusterDomain: string;
    /** Content of the node's resolv.conf. */
    readonly resolvConfText: string;
}
/** glibc reads three servers; the rest are the limits of Kubernetes since 1.28 (its validation has the same ones). */
export declare const dnsLimits: {
    readonly servers: 3;
    readonly searches: 32;
    readonly searchCharacters: 2048;
    readonly searchLength: 253;
};
/** What goes into a pod's resolv.conf, by `dnsPolicy` and `dnsConfig`. */
export declare function podDns(pod: Pod, node: DnsNode): PodDns;
export interface DnsSettings {
    readonly servers: readonly string[];
    readonly searches: readonly string[];
    /** `ndots:5`, `rotate`. */
    readonly options: readonly string[];
}
/**
 * Reads a resolv.conf as glibc does (resolv.conf(5)): the last `search` or `domain` counts, options add up, what is unknown
 * is passed over. Trailing dots of search domains go, since some resolvers take them for an empty label.
 */
export declare function parseResolvConf(text: string): DnsSettings;
//# sourceMappingURL=dns.d.ts.map