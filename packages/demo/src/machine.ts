/** State of the machine's own network namespace, as lines to compare. Reads only. */
import { listAddresses, listLinks, listRoutes, listRules, openRouteConnection } from '@podwire/netlink';

/** Links, addresses, routes and rules; each line is one of them. */
export function describeMachine(): string[] {
  const connection = openRouteConnection();
  try {
    const links = listLinks(connection);
    const nameOf = (index?: number): string =>
      links.find((link) => link.index === index)?.name ?? `${index ?? '-'}`;
    return [
      ...links.map(
        ({ name, mtu, up, kind }) => `link ${name} ${kind ?? ''} mtu ${mtu} ${up ? 'up' : 'down'}`,
      ),
      ...listAddresses(connection).map(({ address, link }) => `address ${address} on ${nameOf(link)}`),
      ...listRoutes(connection).map(
        ({ destination, gateway = '-', link, table, metric = 0 }) =>
          `route ${destination} via ${gateway} dev ${nameOf(link)} table ${table} metric ${metric}`,
      ),
      ...listRules(connection).map((rule) => `rule ${JSON.stringify(rule)}`),
    ].sort();
  } finally {
    connection.close();
  }
}

/** Lines that came and lines that went. */
export function compareLines(before: readonly string[], after: readonly string[]): string[] {
  const [old, young] = [new Set(before), new Set(after)];
  return [
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
    ...before.filter((line) => !young.has(line)).map((line) => `- ${line}`),
  ];
}
