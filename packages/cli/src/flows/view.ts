/** The flows of a bridge, table by table, with what they are for and whose they are. Pure. */
import { readMark } from '@podwire/backend-openflow/marks';
import {
  type BridgeVersion,
  describeTable,
  readVersion,
  RULE_VERSION,
} from '@podwire/network-sdn/description';
import type { Flow, FlowEntry } from '@podwire/openflow';
import { compact, groupBy } from '@podwire/platform';
import type { BridgeDump } from './read.js';
import { isAbout, type Subject } from './subject.js';

export interface FlowView extends FlowEntry {
  readonly owner: 'podwire' | 'others';
  /** The model's, of a flow of Podwire. */
  readonly mark?: number;
}

export interface TableView {
  readonly table: number;
  /** Absent where the tables are not known. */
  readonly purpose?: string;
  /** Packets that came, and those of them that a flow has matched. */
  readonly lookups?: number;
  readonly matches?: number;
  /** The first is the one that packets meet first. */
  readonly flows: readonly FlowView[];
}

export interface BridgeView {
  readonly bridge: string;
  /** The note in table 253; null when there is none. */
  readonly sdn: BridgeVersion | null;
  /** Of the whole bridge. */
  readonly total: number;
  readonly tables: readonly TableView[];
}

export interface Choice {
  /** All when absent. */
  readonly tables?: readonly number[];
  readonly subject?: Subject;
}

export function viewBridge(bridge: string, dump: BridgeDump, { tables, subject }: Choice = {}): BridgeView {
  const version = findVersion(dump);
  const chosen = dump.flows.filter(
    ({ flow }) =>
      (tables?.includes(tableOf(flow)) ?? true) && (subject === undefined || isAbout(flow, subject)),
  );
  const groups = [...groupBy(chosen, ({ flow }) => tableOf(flow))].sort(([a], [b]) => a - b);
  return {
    bridge,
    sdn: version ?? null,
    total: dump.flows.length,
    tables: groups.map(([table, flows]) => ({
      table,
      ...compact({ purpose: purposeOf(table, version) }),
      ...countersOf(dump, table),
      flows: flows.map(viewFlow).sort((a, b) => priorityOf(b.flow) - priorityOf(a.flow)),
    })),
  };
}

/** The note in table 253; undefined when there is none. */
export const findVersion = ({ flows }: Pick<BridgeDump, 'flows'>): BridgeVersion | undefined =>
  readVersion(flows.map(({ flow }) => flow));

export const describeSystem = ({ mode, version }: BridgeVersion): string =>
  `OpenShift SDN, ${mode}, rule version ${version}`;

/** The purpose of a table; undefined where the tables are not known. */
export const purposeOf = (table: number, version: BridgeVersion | undefined): string | undefined =>
  isKnown(version) ? describeTable(table) : undefined;

/** True if the tables are known: those of other rule versions have other numbers. */
export const isKnown = (version: BridgeVersion | undefined): boolean => version?.version === RULE_VERSION;

/** Why tables have no purposes; undefined when they have. */
export function explainUnknown({ sdn }: Pick<BridgeView, 'sdn'>): string | undefined {
  if (sdn === null) return 'no note in table 253 says that these are the tables of OpenShift SDN';
  return isKnown(sdn) ? undefined : `only those of rule version ${RULE_VERSION} are known`;
}

const tableOf = ({ table = 0 }: Flow): number => table;
const priorityOf = ({ priority = 0 }: Flow): number => priority;

function countersOf(dump: BridgeDump, table: number): Pick<TableView, 'lookups' | 'matches'> {
  const found = dump.tables.find((each) => each.table === table);
  return found === undefined ? {} : { lookups: found.lookups, matches: found.matches };
}

export function viewFlow(entry: FlowEntry): FlowView {
  const mark = readMark(entry.flow.cookie);
  return mark === undefined ? { ...entry, owner: 'others' } : { ...entry, owner: 'podwire', mark };
}
