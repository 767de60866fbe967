/** Port numbers; OpenFlow 1.4.0, 7.2.1 for the reserved ones. */

const reserved = {
  IN_PORT: 0xfffffff8,
  TABLE: 0xfffffff9,
  NORMAL: 0xfffffffa,
  FLOOD: 0xfffffffb,
  ALL: 0xfffffffc,
  CONTROLLER: 0xfffffffd,
  LOCAL: 0xfffffffe,
  ANY: 0xffffffff,
} as const;

export type ReservedPort = keyof typeof reserved;

/** The number of a port, or the name of a reserved one as ovs-ofctl(8) writes it. */
export type Port = number | ReservedPort;

const names = new Map<number, ReservedPort>(
  Object.entries(reserved).map(([name, number]) => [number, name as ReservedPort]),
);

/** The 32-bit number of a port. */
export const portNumber = (port: Port): number => (typeof port === 'number' ? port : reserved[port]);

/** The name of a reserved port, else the number. */
export const portOf = (number: number): Port => names.get(number) ?? number;

/** A reserved port by its name in any case. */
export function findReservedPort(text: string): ReservedPort | undefined {
  const name = text.toUpperCase();
  return name === 'NONE' ? 'ANY' : name in reserved ? (name as ReservedPort) : undefined;
}

/** Actions of Nicira and two fields have the 16 bits of OpenFlow 1.0, where reserved ports end in the same digits. */
export const shortPort = (port: Port): number => {
  const number = portNumber(port);
  if (number >= 0xfffffff8) return number & 0xffff;
  if (number < 0xff00) return number;
  throw new RangeError(`port ${number} has no number of 16 bits`);
};

export const portOfShort = (number: number): Port =>
  number >= 0xfff8 ? portOf(0xffff0000 + number) : number;
