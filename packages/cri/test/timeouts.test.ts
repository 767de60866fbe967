import { expect, test } from 'vitest';
import { defaultTimeoutMs } from '../src/client/timeouts.js';
import { ExecSyncRequest, StopContainerRequest } from '../src/index.js';

test('the usual two minutes, four for a sandbox', () => {
  expect(defaultTimeoutMs('status', {})).toBe(120_000);
  expect(defaultTimeoutMs('stopPodSandbox', {})).toBe(120_000);
  expect(defaultTimeoutMs('runPodSandbox', {})).toBe(240_000);
});

test('what has a time of its own gets two minutes more', () => {
  expect(defaultTimeoutMs('stopContainer', StopContainerRequest.fromPartial({ timeout: 30n }))).toBe(150_000);
  expect(defaultTimeoutMs('stopContainer', StopContainerRequest.fromPartial({}))).toBe(120_000);
  expect(defaultTimeoutMs('execSync', ExecSyncRequest.fromPartial({ timeout: 1n }))).toBe(121_000);
});

test('what takes as long as it takes has no deadline of ours', () => {
  expect(defaultTimeoutMs('execSync', ExecSyncRequest.fromPartial({}))).toBeUndefined();
  expect(defaultTimeoutMs('pullImage', {})).toBeUndefined();
  expect(defaultTimeoutMs('getContainerEvents', {})).toBeUndefined();
});
