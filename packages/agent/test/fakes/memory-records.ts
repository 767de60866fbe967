import type { BrokenRecord, EndpointRecord, RecordStore } from '../../src/records/record.js';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';

export interface MemoryRecords extends RecordStore {
  readonly records: Map<string, EndpointRecord>;
  /** Names the calls that fail, as a full disk or a directory without permission would have it. */
  failing: ReadonlySet<'write' | 'advance' | 'delete'>;
  broken: BrokenRecord[];
}

/** Records as text in a map: what does not survive JSON does not survive here either. */
export function createMemoryRecords(): MemoryRecords {
  const fail = (call: 'write' | 'advance' | 'delete'): void => {
    if (self.failing.has(call)) throw new PodwireError('RECORD_IO', `${call}: ENOSPC`);
  };
  const self: MemoryRecords = {
    records: new Map(),
    failing: new Set(),
    broken: [],
    readAll: () => ({ records: [...self.records.values()], broken: self.broken }),
    write(record) {
      fail('write');
      self.records.set(endpointKey(record.id), JSON.parse(JSON.stringify(record)) as EndpointRecord);
    },
    advance(record, phase) {
      fail('advance');
      const stored = self.records.get(endpointKey(record.id));
      if (stored?.phase !== record.phase) throw new Error(`no record in phase ${record.phase}`);
      self.records.set(endpointKey(record.id), { ...stored, phase });
      return { ...record, phase };
    },
    discard({ name }) {
      fail('delete');
      self.broken = self.broken.filter((other) => other.name !== name);
    },
    delete({ id }) {
      fail('delete');
      self.records.delete(endpointKey(id));
    },
  };
  return self;
}
