/** The note by which a start knows what an earlier one has left on the bridge. */
import type { Flow } from '@podwire/openflow';
import type { SdnMode } from '../types.js';
import { tables } from './tables.js';

/** Counts changes of the flows; that of OpenShift 4.10 and later. `test/golden` changes with it. */
export const RULE_VERSION = 13;

/** Numbers of OpenShift; 2 is `networkpolicy`. */
const modeNumbers: Readonly<Record<SdnMode, number>> = { subnet: 0, multitenant: 1 };

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
    { type: 'note', bytes: `${hexByte(modeNumbers[mode])}${hexByte(RULE_VERSION)}`.padEnd(NOTE_DIGITS, '0') },
  ],
});
