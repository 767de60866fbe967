/** The note by which a start knows what an earlier one has left on the bridge. */
import type { Flow } from '@podwire/openflow';
import type { SdnMode } from '../types.js';
import { tables } from './tables.js';

/** Counts changes of the flows; that of OpenShift 4.10 and later. `test/golden` changes with it. */
export const RULE_VERSION = 13;

/** By the numbers of OpenShift. */
const modes = ['subnet', 'multitenant', 'networkpolicy'] as const;

const hexByte = (value: number): string => value.toString(16).padStart(2, '0');

/** Open vSwitch fills a note up to six bytes; in this form it comes back as it was sent. */
const NOTE_DIGITS = 12;

/**
 * Plans the note `PP.VV`, mode and version. It must be the last flow that is added: a bridge with it is complete.
 * Its priority is the one of ovs-ofctl(8) for flows without any, as OpenShift has it.
 */
export const planVersionFlow = (mode: SdnMode): Flow => ({
  table: tables.version,
  priority: 0x8000,
  match: {},
  actions: [
    {
      type: 'note',
      bytes: `${hexByte(modes.indexOf(mode))}${hexByte(RULE_VERSION)}`.padEnd(NOTE_DIGITS, '0'),
    },
  ],
});

export interface BridgeVersion {
  /** `networkpolicy` is on bridges of OpenShift alone. */
  readonly mode: (typeof modes)[number];
  readonly version: number;
}

/** Reads the note, of ours or of OpenShift's; undefined when there is none, or none that has a mode and a version. */
export function readVersion(flows: readonly Flow[]): BridgeVersion | undefined {
  const actions = flows.flatMap((flow) => (flow.table === tables.version ? (flow.actions ?? []) : []));
  const note = actions.find(({ type }) => type === 'note');
  if (note?.type !== 'note') return undefined;
  const mode = modes[parseInt(note.bytes.slice(0, 2), 16)];
  const isWhole = /^[0-9a-f]{4}0*$/i.test(note.bytes);
  return mode === undefined || !isWhole ? undefined : { mode, version: parseInt(note.bytes.slice(2, 4), 16) };
}
