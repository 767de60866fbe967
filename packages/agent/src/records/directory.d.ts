import nodeFs from 'node:fs';
import type { RecordStore } from './record.js';
/** What the directory needs of `node:fs`; tests pass one that fails like a full disk. */
export type RecordFiles = Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'existsSync'
  | 'fstatSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'renameSync'
  | 'unlinkSync'
  | 'writeFileSync'
>;
/** Opens (and makes, mode 0700) the directory of records. @throws PodwireError RECORD_IO */
export declare function openRecordDirectory(directory: string, fs?: RecordFiles): RecordStore;
//# sourceMappingURL=directory.d.ts.map
