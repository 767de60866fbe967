import { formatSavedState, parseSavedState, type SavedState } from '@podwire/cluster-ipam';
import { describe, expect, it } from 'vitest';

const state: SavedState = {
  version: 2,
  node: 'n1',
  instance: 'i1',
  affinities: [{ cidr: '10.0.0.0/26', state: 'confirmed' }],
  pools: [{ name: 'blue' }],
  confirmedAt: 5,
  fenceAfter: 7,
  granted: [{ address: '10.0.0.4', node: 'n2', block: '10.0.0.0/26' }],
  imported: [{ address: '10.0.0.3', owner: 'calico x', since: 1 }],
};

describe('the saved state', () => {
  it('is read as it was written', () => {
    expect(parseSavedState(formatSavedState(state))).toEqual(state);
  });

  it('keeps the field names of earlier versions', () => {
    expect(JSON.parse(formatSavedState(state))).toMatchObject({
      holdings: state.affinities,
      lending: state.granted,
      trustFor: state.fenceAfter,
    });
  });

  it.each(['', '{"version":1', '{"version":2}', '{"version":3}', '[]', 'null'])('ignores %j', (text) => {
    expect(parseSavedState(text)).toBeUndefined();
  });
});
