import {
  NetlinkBatchError,
  type NetlinkConnection,
  NetlinkError,
  type NetlinkFailure,
  type NetlinkRequest,
} from '@podwire/netlink';
import { describe, expect, it } from 'vitest';
import { applyChanges } from '../src/changes.js';
import type { ElementChange, ElementOperation } from '../src/element.js';
import { NftablesError } from '../src/errors.js';
import { encodeSteps, planSteps } from '../src/steps.js';

const NEW = (10 << 8) | 12;
const DELETE = (10 << 8) | 14;
const DESTROY = (10 << 8) | 30;
const BEGIN = 16;
const END = 17;

const change = (op: ElementOperation, mark: number, set = 's'): ElementChange => ({
  op,
  family: 'inet',
  table: 't',
  set,
  key: [{ type: 'mark', value: mark }],
});

const messagesOf = (changes: readonly ElementChange[]): string[] =>
  encodeSteps(planSteps(changes)).map(
    ({ steps }) => `${steps[0]!.op} ${steps.map(({ index }) => index).join(' ')}`,
  );

describe('steps', () => {
  it('share a message with their neighbours, in order', () => {
    const changes = [
      change('add', 1),
      change('add', 2),
      change('delete', 3),
      change('add', 4),
      change('add', 5, 'other'),
      change('create', 6, 'other'),
    ];
    expect(messagesOf(changes)).toEqual(['add 0 1', 'delete 2', 'add 3', 'add 4', 'create 5']);
  });

  it('replace by destroying all neighbours first', () => {
    expect(messagesOf([change('replace', 1), change('replace', 2), change('add', 3)])).toEqual([
      'destroy 0 1',
      'create 0 1',
      'add 2',
    ]);
  });

  it('fill no message beyond what an attribute holds', () => {
    const wide: ElementChange = {
      ...change('add', 1),
      key: Array.from({ length: 5 }, () => ({ type: 'ipv6_addr', value: 'fd00::1' }) as const),
      value: Array.from({ length: 5 }, () => ({ type: 'ipv6_addr', value: 'fd00::2' }) as const),
      comment: 'x'.repeat(128),
    };
    const messages = encodeSteps(planSteps(Array.from({ length: 1_000 }, () => wide)));
    expect(messages.flatMap(({ steps }) => steps)).toHaveLength(1_000);
    for (const { request } of messages) expect(request.payload.length).toBeLessThan(65_536);
  });
});

type Answer = readonly Partial<NetlinkFailure>[];

/** A kernel that gives these answers one after the other, and what it was asked. */
function scripted(...answers: Answer[]): { connection: NetlinkConnection; asked: number[][] } {
  const asked: number[][] = [];
  const request = (requests: readonly NetlinkRequest[]) => {
    asked.push(requests.map(({ type }) => type));
    const failures = (answers.shift() ?? []).map((failure) => ({
      index: 0,
      label: '',
      code: 'ENOENT',
      errno: 2,
      ...failure,
    }));
    if (failures.length > 0) throw new NetlinkBatchError(failures);
    return requests.map(() => []);
  };
  const unused = () => {
    throw new Error('not expected');
  };
  return {
    asked,
    connection: { request, requestAsync: unused, dump: unused, portId: unused, close: unused },
  };
}

function thrownBy(work: () => void): NftablesError {
  try {
    work();
  } catch (error) {
    if (error instanceof NftablesError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('applyChanges', () => {
  it('sends one transaction', () => {
    const { connection, asked } = scripted([]);
    applyChanges(connection, [change('add', 1), change('destroy', 2)], { destroySupported: true });
    expect(asked).toEqual([[BEGIN, NEW, DESTROY, END]]);
  });

  it('sends nothing for nothing', () => {
    const { connection, asked } = scripted();
    applyChanges(connection, [], { destroySupported: true });
    expect(asked).toEqual([]);
  });

  it('leaves out what is to be destroyed in a set that is not there', () => {
    const { connection, asked } = scripted([{ index: 1 }], []);
    applyChanges(
      connection,
      [change('destroy', 1, 'absent'), change('destroy', 2, 'absent'), change('add', 3)],
      { destroySupported: true },
    );
    expect(asked).toEqual([
      [BEGIN, DESTROY, NEW, END],
      [BEGIN, NEW, END],
    ]);
  });

  it('does not forgive anything else', () => {
    const { connection } = scripted([{ index: 1 }, { index: 2, code: 'EEXIST', errno: 17 }]);
    const error = thrownBy(() =>
      applyChanges(connection, [change('destroy', 1), change('add', 2)], { destroySupported: true }),
    );
    expect(error.failures).toHaveLength(1);
    expect(error).toMatchObject({ code: 'EEXIST', failures: [{ index: 1, errno: 17 }] });
    expect(error.message).toBe(
      'add element inet t s { 0x00000002 }: EEXIST (it is there already, or with other data)',
    );
  });

  it('names the element that the extended ack points at, and repeats its words', () => {
    const changes = [change('add', 1), change('add', 2), change('add', 3)];
    const [message] = encodeSteps(planSteps(changes));
    const answer = {
      index: 1,
      code: 'EINVAL',
      errno: 22,
      kernelMessage: 'so it is',
      attributeOffset: message!.offsets[1]!,
    };
    const error = thrownBy(() =>
      applyChanges(scripted([answer]).connection, changes, { destroySupported: true }),
    );
    expect(error.failures[0]).toMatchObject({ index: 1, kernelMessage: 'so it is' });
    expect(error.message).toContain('so it is');
    const vague = thrownBy(() =>
      applyChanges(scripted([{ index: 1 }]).connection, changes, { destroySupported: true }),
    );
    expect(vague.failures[0]).toEqual({ label: 'add 3 elements of inet t s', code: 'ENOENT', errno: 2 });
  });

  it('says when the transaction as a whole is refused', () => {
    const { connection } = scripted([{ index: 0, code: 'EPERM', errno: 1 }]);
    const error = thrownBy(() => applyChanges(connection, [change('add', 1)], { destroySupported: true }));
    expect(error.message).toBe('nftables transaction: EPERM (CAP_NET_ADMIN is missing in this namespace)');
  });

  it('looks first on older kernels, and again when a key vanished in between', () => {
    const vanished = [{ index: 1 }];
    const { connection, asked } = scripted([], vanished, [{ index: 0 }], []);
    applyChanges(connection, [change('destroy', 1), change('add', 2)], { destroySupported: false });
    const look = [(10 << 8) | 13];
    expect(asked).toEqual([look, [BEGIN, DELETE, NEW, END], look, [BEGIN, NEW, END]]);
  });

  it('gives up at last', () => {
    const endless = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? [] : [{ index: 1 }]));
    const error = thrownBy(() =>
      applyChanges(scripted(...endless).connection, [change('destroy', 1)], { destroySupported: false }),
    );
    expect(error.code).toBe('ENOENT');
  });

  it('lets failures of the connection through', () => {
    const lost = new NetlinkError('ENOBUFS', 'answers were lost');
    const connection = {
      ...scripted().connection,
      request: () => {
        throw lost;
      },
    };
    expect(() => applyChanges(connection, [change('add', 1)], { destroySupported: true })).toThrow(lost);
  });
});
