/** Names of owners of addresses, as messages have them. */

export const podOwner = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `pod ${namespace}/${name}`;

export const nodeOwner = (name: string): string => `node ${name}`;

export const ownerOf = ({
  namespace,
  podName,
}: {
  readonly namespace: string;
  readonly podName: string;
}): string => (namespace === '' ? nodeOwner(podName) : podOwner({ namespace, name: podName }));

/** The number at the end of the name of a stateful set's pod. */
export function ordinalOf(podName: string): number | undefined {
  const [, digits] = /-(\d+)$/.exec(podName) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Splits NAMESPACE/NAME. */
export function splitId(id: string): { readonly namespace: string; readonly name: string } {
  const slash = id.indexOf('/');
  return { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
}
