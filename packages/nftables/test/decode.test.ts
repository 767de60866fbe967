import { DecodeError } from '@podwire/netlink';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEntry, deleteEntryRequest, listAllRequest } from '../src/conntrack-codec.js';
import {
  decodeChain,
  decodeElements,
  decodeGeneration,
  decodeObject,
  decodeRawElements,
  decodeRule,
  decodeSet,
  decodeTable,
  type ElementTypes,
} from '../src/decode.js';
import { encodeElements } from '../src/element-request.js';
import { anyMessage, damaged, element, message } from './arbitraries.js';

const set = { family: 'inet', table: 't', set: 's' } as const;
const ports: ElementTypes = { key: ['inet_proto', 'inet_service'], data: ['ipv4_addr', 'inet_service'] };
const verdicts: ElementTypes = { key: ['ifname'], data: 'verdict' };

const decoders = {
  decodeTable,
  decodeChain,
  decodeRule,
  decodeObject,
  decodeSet,
  decodeGeneration,
  decodeRawElements,
  'decodeElements of ports': (one: Parameters<typeof decodeTable>[0]) => decodeElements(one, ports),
  'decodeElements of verdicts': (one: Parameters<typeof decodeTable>[0]) => decodeElements(one, verdicts),
  decodeEntry,
  deleteEntryRequest,
};

function onlyDecodeError(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
  }
}

describe.each(Object.entries(decoders))('%s', (_, decode) => {
  it('fails with nothing but DecodeError, whatever the bytes', () => {
    fc.assert(
      fc.property(anyMessage, (one) => onlyDecodeError(() => decode(one))),
      { numRuns: 1_000 },
    );
  });

  it('survives damaged messages', () => {
    const good = fc.array(element, { minLength: 1, maxLength: 3 }).map((elements) => {
      return Buffer.from(encodeElements('add', set, elements).request.payload);
    });
    fc.assert(
      fc.property(damaged(good), (one) => onlyDecodeError(() => decode(one))),
      { numRuns: 300 },
    );
  });
});

describe('elements', () => {
  it('come back as they were sent', () => {
    fc.assert(
      fc.property(element, (one) => {
        const { payload } = encodeElements('add', set, [one]).request;
        const data = one.verdict === undefined ? one.value?.map(({ type }) => type) : ('verdict' as const);
        const types = { key: one.key.map(({ type }) => type), ...(data === undefined ? {} : { data }) };
        expect(decodeElements(message(payload), types)).toEqual([one]);
      }),
    );
  });

  it('are found by their offset in a message', () => {
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 20 }), (elements) => {
        const { request, offsets } = encodeElements('create', set, elements);
        const padded = Buffer.concat([Buffer.alloc(16), request.payload]);
        for (const offset of offsets) expect(padded.readUInt16LE(offset + 2) & 0x3fff).toBe(1);
        expect(offsets).toHaveLength(elements.length);
      }),
    );
  });
});

describe('a conntrack entry', () => {
  it('needs both directions', () => {
    const payload = Buffer.from(listAllRequest().payload);
    payload.writeUInt8(2, 0); // AF_INET
    expect(() => decodeEntry(message(payload))).toThrow(/incomplete tuple/);
  });
});
