/** The real node agent, started without the command line package. */
import { parseArgs } from 'node:util';
import { loadConfig, runAgent } from '@podwire/agent';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
if (values.config === undefined) {
  // `node --test` runs every file below a folder named test; without a configuration this would be an agent of the machine itself.
  throw new Error('agent-entry needs --config FILE; it is started by tests, inside a private host');
}
await runAgent(loadConfig(values.config));
