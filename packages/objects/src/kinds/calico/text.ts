/** Text that Calico's kinds share: selectors, ports, protocols. */
import { z } from 'zod';
import { keysOf } from '../../selectors/keys.js';
import { parseSelector, type ParseOptions } from '../../selectors/parse-selector.js';
import type { Selector } from '../../selectors/selector.js';

type Check = (selector: Selector) => string | undefined;

const selectorWith = (options: ParseOptions, check: Check = () => undefined) =>
  z.string().superRefine((text, context) => {
    const parsed = parseSelector(text, options);
    const message = parsed.ok
      ? check(parsed.selector)
      : `is no selector: at character ${parsed.problem.at + 1}, ${parsed.problem.message}`;
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const selector = selectorWith({});

/** Of an end of a rule: `global()` is whatever lies in no namespace. */
export const namespaceSelector = selectorWith({ ofNamespaces: true });

/** Of a policy: it selects pods, which all have a namespace. */
export const ownNamespaceSelector = selectorWith({});

/** The label by which Calico knows names of service accounts and namespaces. */
const nameKey = 'projectcalico.org/name';

/** Podwire knows the name of a pod's service account, and none of its labels. */
export const serviceAccountSelector = selectorWith({}, (read) => {
  const [other] = [...keysOf(read)].filter((key) => key !== nameKey);
  return other === undefined
    ? undefined
    : `asks for the label ${other}: of service accounts only the name is known here (${nameKey} == '…')`;
});

/** A field that Calico takes and Podwire does not: refused with a reason, and not as unknown. */
export const unsupported = (reason: string) =>
  z
    .unknown()
    .refine((value) => value === undefined, { error: `is not supported: ${reason}` })
    .optional()
    .describe('Not supported.');

const ports = /^(\d{1,5})(?::(\d{1,5}))?$/;
const portName = /^[A-Za-z0-9_.-]{1,128}$/;

export interface PortNumbers {
  readonly first: number;
  readonly last: number;
}

/** `80`, `"80"`, `"8000:8080"`; undefined for names and for what is no port. */
export function readPorts(port: number | string): PortNumbers | undefined {
  const [, first, last = first] = ports.exec(`${port}`) ?? [];
  const range = { first: Number(first), last: Number(last) };
  return range.first <= range.last && range.last <= 65_535 ? range : undefined;
}

const wantedPort = 'must be a number up to 65535, a range as 8000:8080, or the name of a port';

export const calicoPort = z
  .union([z.int().min(0).max(65_535), z.string()])
  .refine((port) => readPorts(port) !== undefined || isPortName(port), { error: wantedPort });

/** Digits alone are a number, and so they cannot be a name. */
const isPortName = (port: number | string): boolean =>
  typeof port === 'string' && portName.test(port) && !/^\d+$/.test(port);

/** The number of the protocol in the header of IP. */
export const protocolNumbers = {
  TCP: 6,
  UDP: 17,
  ICMP: 1,
  ICMPv6: 58,
  SCTP: 132,
  UDPLite: 136,
} as const;

const protocolByWord: ReadonlyMap<string, number> = new Map(
  Object.entries(protocolNumbers).map(([name, number]) => [name.toLowerCase(), number]),
);

/** @returns the number of a protocol; undefined for what is none */
export function readProtocol(protocol: number | string): number | undefined {
  if (typeof protocol === 'number') return protocol;
  return /^\d{1,3}$/.test(protocol) ? Number(protocol) : protocolByWord.get(protocol.toLowerCase());
}

export const calicoProtocol = z
  .union([z.int(), z.string()])
  .refine((protocol) => isProtocolNumber(readProtocol(protocol)), {
    error: `must be ${Object.keys(protocolNumbers).join(', ')}, or a number from 1 to 255`,
  });

const isProtocolNumber = (number: number | undefined): boolean =>
  number !== undefined && number >= 1 && number <= 255;
