import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { pour, serveSink } from '@podwire/testkit';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

const megabit = 1_000_000;
const rate = 10 * megabit;
/** Value that kubelet passes for "no particular burst"; taken at its word it would let 268 MB pass unshaped. */
const kubeletBurst = 2_147_483_647;

suite('bandwidth limits with the default burst', () => {
  let host: WiredHost;
  let limited: WiredPod;
  let free: WiredPod;

  before(async () => {
    host = await createWiredHost('rates');
    const bandwidth = {
      ingressRate: rate,
      ingressBurst: kubeletBurst,
      egressRate: rate,
      egressBurst: kubeletBurst,
    };
    limited = await host.addPod({ bandwidth });
    free = await host.addPod();
  });
  after(() => host.close());

  // A busy machine can only make a transfer slower, so only the upper bound is a fact to assert.
  for (const family of ['ipv4', 'ipv6'] as const) {
    test(`a transfer of 1 MB to the pod keeps to the rate, ${family}`, async () => {
      const { port } = await serveSink(limited.namespace, limited[family]);
      const { rate: measured } = await pour(free.namespace, limited[family], port, 1_000_000);
      assert.ok(measured < 1.15 * rate, `${measured} bit/s`);
    });

    test(`a transfer of 1 MB from the pod keeps to the rate, ${family}`, async () => {
      const { port } = await serveSink(free.namespace, free[family]);
      const { rate: measured } = await pour(limited.namespace, free[family], port, 1_000_000);
      assert.ok(measured < 1.15 * rate, `${measured} bit/s`);
    });
  }

  test('nothing slips by the buckets, and others are not held back', async () => {
    const { port } = await serveSink(free.namespace, free.ipv4);
    // No bucket lets any transfer pass faster than its rate; a busy machine does now and then.
    let fastest = 0;
    for (let time = 0; time < 5 && fastest <= 2 * rate; time += 1)
      fastest = Math.max(fastest, (await pour(host.namespace, free.ipv4, port, 1_000_000)).rate);
    assert.ok(fastest > 2 * rate, `${fastest} bit/s`);
  });
});
