import { expect, test } from 'vitest';
import { type KubernetesClient, KubernetesError } from '@podwire/kubernetes-client';
import { createPullSecretFinder } from '../../src/kubernetes/pull-secrets.js';
import { makePod } from '../runtime-config/make-pod.js';

function finding(answer: () => unknown) {
  const asked: string[] = [];
  const request = (verb: string, path: string) => {
    asked.push(`${verb} ${path}`);
    return Promise.resolve().then(answer);
  };
  const find = createPullSecretFinder({ request } as unknown as KubernetesClient);
  return { asked, text: () => find(makePod(), 'team') };
}

const encode = (text: string) => Buffer.from(text).toString('base64');

test.each(['.dockerconfigjson', '.dockercfg'])('%s of a Secret of the pod’s namespace', async (key) => {
  const { asked, text } = finding(() => ({ data: { [key]: encode('{"auths":{}}'), other: encode('x') } }));
  expect(await text()).toBe('{"auths":{}}');
  expect(asked).toEqual(['GET /api/v1/namespaces/shop/secrets/team']);
});

test('one that is missing, or of another type, is none; a server that refuses is an error', async () => {
  const failing = (status: number) => () => {
    throw new KubernetesError(status, 'Reason', 'not for you');
  };
  expect(await finding(failing(404)).text()).toBeUndefined();
  expect(await finding(() => ({ data: { password: encode('x') } })).text()).toBeUndefined();
  await expect(finding(failing(403)).text()).rejects.toThrow('not for you');
});
