/** The fields of a packet, such as `finalFlow`, by name; kinds of packets (`tcp`) have an empty value. */
export function readFields(flow: string): ReadonlyMap<string, string> {
  return new Map(
    flow.split(',').map((term) => {
      const [, name = term, value = ''] = /^([^=]*)=(.*)$/.exec(term) ?? [];
      return [name, value];
    }),
  );
}
