/** Ranges of VLANs and VNIs: `1-4094`. */

export interface TagRange {
  readonly lowest: number;
  readonly highest: number;
}

export interface TagLimits {
  /** The highest that can be. */
  readonly highest: number;
  /** How many numbers a range may have between its ends. */
  readonly width: number;
}

/** IEEE 802.1Q keeps 4095. */
export const highestVlan = 4094;
/** Of a VXLAN, RFC 7348: 24 bits. */
export const highestVni = 16_777_215;

/** As the original limits them. */
export const vlanLimits: TagLimits = { highest: highestVlan, width: highestVlan };
export const vxlanLimits: TagLimits = { highest: 65_535, width: 16_000 };

/** @throws RangeError whose message goes behind the field */
export function parseTagRange(text: string, { highest, width }: TagLimits): TagRange {
  const groups = /^(?<from>\d{1,8})-(?<to>\d{1,8})$/.exec(text)?.groups;
  const [from, to] = [Number(groups?.['from']), Number(groups?.['to'])];
  if (groups === undefined) throw new RangeError('must be a range of numbers, 1-4094');
  if (from < 1 || to > highest) throw new RangeError(`must lie within 1 to ${highest}`);
  if (from > to) throw new RangeError('must have a first number that is not behind its last');
  if (to - from > width) throw new RangeError(`must have at most ${width} numbers behind its first`);
  return { lowest: from, highest: to };
}

export const hasTag = ({ lowest, highest }: TagRange, number: number): boolean =>
  number >= lowest && number <= highest;
