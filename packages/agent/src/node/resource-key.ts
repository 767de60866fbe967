import type { Resource } from '@podwire/engine';

/** What tells a resource from others of its kind; two resources of one key cannot both be there. */
export function resourceKey(resource: Resource): string {
  switch (resource.kind) {
    case 'route':
      return `route ${resource.destination} ${resource.table ?? ''} ${resource.metric ?? ''}`;
    case 'neighbour':
      return `neighbour ${resource.link} ${resource.address}`;
    case 'forwarding-entry':
      return `forwarding-entry ${resource.link} ${resource.mac}`;
    case 'nft-element':
      return `${resource.table} ${resource.set} ${resource.key.map(({ value }) => value).join(' ')}`;
    case 'sysctl':
      return `sysctl ${resource.in} ${resource.key}`;
    case 'nft-table':
      return `nft-table ${resource.family} ${resource.name}`;
    default:
      return JSON.stringify(resource);
  }
}

/** Neighbours in a list travel together, so what goes another way (elements of the packet filter) stands at the end. */
export function inFewSteps(resources: readonly Resource[]): Resource[] {
  const isElement = ({ kind }: Resource): boolean => kind === 'nft-element';
  return [...resources.filter((each) => !isElement(each)), ...resources.filter(isElement)];
}
