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
