/** The agent with a second model beside those of the registry; its command line is that of `podwire agent`. */
import { parseArgs } from 'node:util';
import { loadConfig, runAgent } from '@podwire/agent';
import { createConfigSchema } from '../../src/config/schema.js';
import { networkModels } from '../../src/models.js';
import { plainModel } from './plain-model.js';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
// A bare `node --test` runs every file below a folder named test.
if (values.config === undefined)
  throw new Error('this agent needs --config FILE; a test starts it in a private host');

const models = [...networkModels, plainModel] as const;
await runAgent(loadConfig(values.config, createConfigSchema(models)), { models });
