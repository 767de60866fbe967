import { describe, expect, test } from 'vitest';
import { explainFailure } from '../../src/flows/failure.js';

const asked = { bridge: 'br0', runDir: '/nowhere', socket: '/nowhere/br0.mgmt', timeout: 10 };
const failure = (code: string): Error => Object.assign(new Error(code), { code });

describe('a failure of the connection', () => {
  test.each(['EACCES', 'EPERM'])('by %s is a privilege that is missing', async (code) => {
    expect(await explainFailure(failure(code), asked)).toMatchObject({
      ...{ code: 'PRIVILEGE_MISSING', message: 'only root may open /nowhere/br0.mgmt' },
      action: 'Run the command as root, or with `sudo`.',
    });
  });

  test('without any bridge names none', async () => {
    const { message } = await explainFailure(failure('ENOENT'), asked);
    expect(message).toBe('bridge br0 has no socket /nowhere/br0.mgmt');
  });
});
