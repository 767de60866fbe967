import type { DnsConfig, Pod } from '@podwire/pod-spec';

export interface PodDns extends DnsSettings {
  /** The entries that were left out and why; for an event `DNSConfigForming`. */
  readonly warnings: readonly string[];
}

export interface DnsNode {
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Content of the node's resolv.conf. */
  readonly resolvConfText: string;
}

/** glibc reads three servers; the rest are the limits of Kubernetes since 1.28 (its validation has the same ones). */
export const dnsLimits = { servers: 3, searches: 32, searchCharacters: 2048, searchLength: 253 } as const;

/** The content of a pod's resolv.conf, by `dnsPolicy` and `dnsConfig`. */
export function podDns(pod: Pod, node: DnsNode): PodDns {
  const { settings, warnings } = policySettings(pod, node);
  const merged = mergeDnsConfig(settings, pod.spec.dnsConfig);
  const servers = limitServers(merged.servers);
  const searches = limitSearches(merged.searches);
  return {
    servers: servers.kept,
    searches: searches.kept,
    options: merged.options,
    warnings: [...warnings, ...servers.warnings, ...searches.warnings],
  };
}

interface Choice {
  readonly settings: DnsSettings;
  readonly warnings: readonly string[];
}

function policySettings(pod: Pod, node: DnsNode): Choice {
  if (pod.spec.dnsPolicy === 'None') return plain({ servers: [], searches: [], options: [] });
  if (!wantsCluster(pod)) return plain(parseResolvConf(node.resolvConfText));
  if (node.clusterDns.length > 0) return plain(clusterSettings(pod, node));
  return { settings: parseResolvConf(node.resolvConfText), warnings: withoutCluster(pod) };
}

/** ClusterFirst is the default, and on a node without a cluster no mistake; the other one was chosen. */
function withoutCluster({ spec }: Pod): readonly string[] {
  if (spec.dnsPolicy !== 'ClusterFirstWithHostNet') return [];
  return [`dnsPolicy ${spec.dnsPolicy}: no cluster DNS server is configured; the node's are used`];
}

function plain(settings: DnsSettings): Choice {
  return { settings, warnings: [] };
}

function wantsCluster({ spec }: Pod): boolean {
  if (spec.dnsPolicy === 'ClusterFirstWithHostNet') return true;
  return spec.dnsPolicy === 'ClusterFirst' && !spec.hostNetwork;
}

function clusterSettings(pod: Pod, node: DnsNode): DnsSettings {
  const domain = node.clusterDomain;
  const own = domain === '' ? [] : [`${pod.metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain];
  const { searches } = parseResolvConf(node.resolvConfText);
  return { servers: node.clusterDns, searches: unique([...own, ...searches]), options: ['ndots:5'] };
}

function mergeDnsConfig(base: DnsSettings, config: DnsConfig | undefined): DnsSettings {
  if (config === undefined) return base;
  const added = config.options.map(({ name, value }) =>
    value === undefined || value === '' ? name : `${name}:${value}`,
  );
  return {
    servers: unique([...base.servers, ...config.nameservers]),
    searches: unique([...base.searches, ...config.searches]),
    options: mergeOptions([...base.options, ...added]),
  };
}

/** A later option of the same name replaces the earlier one, in its place. */
function mergeOptions(options: readonly string[]): string[] {
  return [...new Map(options.map((option) => [option.split(':', 1)[0]!, option])).values()];
}

interface Limited {
  readonly kept: readonly string[];
  readonly warnings: readonly string[];
}

function limitServers(servers: readonly string[]): Limited {
  const kept = servers.slice(0, dnsLimits.servers);
  if (kept.length === servers.length) return { kept, warnings: [] };
  const warning = `${servers.length} name servers, but resolvers read ${dnsLimits.servers}: ${servers.slice(kept.length).join(' ')} left out`;
  return { kept, warnings: [warning] };
}

function limitSearches(searches: readonly string[]): Limited {
  const usable = searches.filter((search) => search.length <= dnsLimits.searchLength);
  const kept = cutToLength(usable.slice(0, dnsLimits.searches));
  if (kept.length === searches.length) return { kept, warnings: [] };
  const limits = `${dnsLimits.searches} of together ${dnsLimits.searchCharacters} characters, each ${dnsLimits.searchLength}`;
  const left = searches.length - kept.length;
  return {
    kept,
    warnings: [`${searches.length} search domains exceed the limits (${limits}): ${left} left out`],
  };
}

/** Whole domains only, as many as fit on the line together with the blanks between them. */
function cutToLength(searches: readonly string[]): readonly string[] {
  let characters = -1;
  const end = searches.findIndex((search) => {
    characters += search.length + 1;
    return characters > dnsLimits.searchCharacters;
  });
  return end === -1 ? searches : searches.slice(0, end);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}

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
export function parseResolvConf(text: string): DnsSettings {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/[#;].*$/, '').trim())
    .map((line) => line.split(/\s+/));
  const values = (keyword: string) =>
    lines.filter(([first]) => first === keyword).map((line) => line.slice(1));
  const searchLine = lines.findLast(([first]) => first === 'search' || first === 'domain');
  return {
    servers: values('nameserver').flatMap(([server]) => (server === undefined ? [] : [server])),
    searches: [...new Set(searchLine?.slice(1).map(withoutDot) ?? [])],
    options: values('options').flat(),
  };
}

/** The root alone stays a dot. */
function withoutDot(domain: string): string {
  return domain === '.' ? domain : domain.replace(/\.$/, '');
}
