/** Types and codes of errors by name; OpenFlow 1.4.0, 7.5.4. */

const codes = {
  OFPHFC: [0, ['INCOMPATIBLE', 'EPERM']],
  OFPBRC: [
    1,
    [
      ...['BAD_VERSION', 'BAD_TYPE', 'BAD_MULTIPART', 'BAD_EXPERIMENTER', 'BAD_EXP_TYPE', 'EPERM', 'BAD_LEN'],
      ...['BUFFER_EMPTY', 'BUFFER_UNKNOWN', 'BAD_TABLE_ID', 'IS_SLAVE', 'BAD_PORT', 'BAD_PACKET'],
      ...['MULTIPART_BUFFER_OVERFLOW', 'MULTIPART_REQUEST_TIMEOUT', 'MULTIPART_REPLY_TIMEOUT'],
    ],
  ],
  OFPBAC: [
    2,
    [
      ...['BAD_TYPE', 'BAD_LEN', 'BAD_EXPERIMENTER', 'BAD_EXP_TYPE', 'BAD_OUT_PORT', 'BAD_ARGUMENT', 'EPERM'],
      ...['TOO_MANY', 'BAD_QUEUE', 'BAD_OUT_GROUP', 'MATCH_INCONSISTENT', 'UNSUPPORTED_ORDER', 'BAD_TAG'],
      ...['BAD_SET_TYPE', 'BAD_SET_LEN', 'BAD_SET_ARGUMENT', 'BAD_SET_MASK'],
    ],
  ],
  OFPBIC: [
    3,
    [
      ...['UNKNOWN_INST', 'UNSUP_INST', 'BAD_TABLE_ID', 'UNSUP_METADATA', 'UNSUP_METADATA_MASK'],
      ...['BAD_EXPERIMENTER', 'BAD_EXP_TYPE', 'BAD_LEN', 'EPERM', 'DUP_INST'],
    ],
  ],
  OFPBMC: [
    4,
    [
      ...['BAD_TYPE', 'BAD_LEN', 'BAD_TAG', 'BAD_DL_ADDR_MASK', 'BAD_NW_ADDR_MASK', 'BAD_WILDCARDS'],
      ...['BAD_FIELD', 'BAD_VALUE', 'BAD_MASK', 'BAD_PREREQ', 'DUP_FIELD', 'EPERM'],
    ],
  ],
  OFPFMFC: [
    5,
    [
      ...['UNKNOWN', 'TABLE_FULL', 'BAD_TABLE_ID', 'OVERLAP', 'EPERM', 'BAD_TIMEOUT', 'BAD_COMMAND'],
      ...['BAD_FLAGS', 'CANT_SYNC', 'BAD_PRIORITY'],
    ],
  ],
  OFPGMFC: [
    6,
    [
      ...['GROUP_EXISTS', 'INVALID_GROUP', 'WEIGHT_UNSUPPORTED', 'OUT_OF_GROUPS', 'OUT_OF_BUCKETS'],
      ...['CHAINING_UNSUPPORTED', 'WATCH_UNSUPPORTED', 'LOOP', 'UNKNOWN_GROUP', 'CHAINED_GROUP', 'BAD_TYPE'],
      ...['BAD_COMMAND', 'BAD_BUCKET', 'BAD_WATCH', 'EPERM'],
    ],
  ],
  OFPMMFC: [
    12,
    [
      ...['UNKNOWN', 'METER_EXISTS', 'INVALID_METER', 'UNKNOWN_METER', 'BAD_COMMAND', 'BAD_FLAGS'],
      ...['BAD_RATE', 'BAD_BURST', 'BAD_BAND', 'BAD_BAND_TYPE', 'OUT_OF_METERS', 'OUT_OF_BANDS'],
    ],
  ],
  OFPACFC: [15, ['INVALID', 'UNSUPPORTED', 'EPERM']],
  OFPBFC: [
    17,
    [
      ...['UNKNOWN', 'EPERM', 'BAD_ID', 'BUNDLE_EXIST', 'BUNDLE_CLOSED', 'OUT_OF_BUNDLES', 'BAD_TYPE'],
      ...['BAD_FLAGS', 'MSG_BAD_LEN', 'MSG_BAD_XID', 'MSG_UNSUP', 'MSG_CONFLICT', 'MSG_TOO_MANY'],
      ...['MSG_FAILED', 'TIMEOUT', 'BUNDLE_IN_PROGRESS'],
    ],
  ],
} as const;

type Codes = typeof codes;
/** The name of an error, such as `OFPBMC_BAD_PREREQ`. */
export type ErrorName =
  | { [Prefix in keyof Codes]: `${Prefix}_${Codes[Prefix][1][number]}` }[keyof Codes]
  /** An error of Nicira, which has its own numbers. */
  | 'NXBAC_BAD_CONJUNCTION';

export interface ErrorCode {
  readonly type: number;
  readonly code: number;
}

const standard = Object.entries(codes).flatMap(([prefix, [type, names]]) =>
  names.map((name, code) => ({ name: `${prefix}_${name}`, type, code })),
);
const list = [...standard, { name: 'NXBAC_BAD_CONJUNCTION', type: 0xffff, code: 15 }];
const byName = new Map(list.map(({ name, type, code }) => [name, { type, code }]));
const byCode = new Map(list.map(({ name, type, code }) => [`${type}/${code}`, name as ErrorName]));

export const errorCode = (name: ErrorName): ErrorCode => byName.get(name)!;
export const findErrorName = ({ type, code }: ErrorCode): ErrorName | undefined =>
  byCode.get(`${type}/${code}`);
