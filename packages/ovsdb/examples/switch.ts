// Types of the database Open_vSwitch, version 8.0.0. Written by podwire-ovsdb-types.
import type { NamedUuid } from '@podwire/ovsdb';

/** A row, or one of the same transaction. */
type Reference = string | NamedUuid;

/** A row of the table Open_vSwitch. */
export interface OpenVSwitchRow {
  readonly _uuid: string;
  /** Of Bridge. */
  readonly bridges: ReadonlySet<string>;
  readonly next_cfg: number;
  readonly cur_cfg: number;
}

/** Values to write into the table Open_vSwitch. */
export interface OpenVSwitchValues {
  readonly bridges?: ReadonlySet<Reference> | readonly Reference[];
  readonly next_cfg?: number;
  readonly cur_cfg?: number;
}

/** A row of the table Bridge. */
export interface BridgeRow {
  readonly _uuid: string;
  /** Set by an insert alone. */
  readonly name: string;
  readonly datapath_type: string;
  readonly fail_mode: 'standalone' | 'secure' | undefined;
  /** Of Port. */
  readonly ports: ReadonlySet<string>;
}

/** Values to write into the table Bridge. */
export interface BridgeValues {
  readonly name?: string;
  readonly datapath_type?: string;
  readonly fail_mode?: 'standalone' | 'secure' | undefined;
  readonly ports?: ReadonlySet<Reference> | readonly Reference[];
}

/** A row of the table Port. */
export interface PortRow {
  readonly _uuid: string;
  /** Set by an insert alone. */
  readonly name: string;
  /** Of Interface. */
  readonly interfaces: ReadonlySet<string>;
  /** From 0 to 4095. */
  readonly tag: number | undefined;
}

/** Values to write into the table Port. */
export interface PortValues {
  readonly name?: string;
  readonly interfaces?: ReadonlySet<Reference> | readonly Reference[];
  readonly tag?: number | undefined;
}

/** A row of the table Interface. */
export interface InterfaceRow {
  readonly _uuid: string;
  /** Set by an insert alone. */
  readonly name: string;
  readonly type: string;
  readonly external_ids: ReadonlyMap<string, string>;
  readonly ofport: number | undefined;
}

/** Values to write into the table Interface. */
export interface InterfaceValues {
  readonly name?: string;
  readonly type?: string;
  readonly external_ids?: ReadonlyMap<string, string> | { readonly [key: string]: string };
  readonly ofport?: number | undefined;
}

/** All tables of Open_vSwitch. */
export type OpenVSwitchDatabase = {
  readonly Open_vSwitch: { readonly row: OpenVSwitchRow; readonly values: OpenVSwitchValues };
  readonly Bridge: { readonly row: BridgeRow; readonly values: BridgeValues };
  readonly Port: { readonly row: PortRow; readonly values: PortValues };
  readonly Interface: { readonly row: InterfaceRow; readonly values: InterfaceValues };
};
