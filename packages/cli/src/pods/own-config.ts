/** Configuration that `podwire up` writes for the node agent that it starts. */
import fs from 'node:fs';
import { defaultDirectory, type Places } from './locate.js';

function renderAgentConfig(places: Places): string {
  const files = { socket: places.agentSocket, apiSocket: places.agentApi, stateDir: places.directory };
  const lines = Object.entries(files).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `# Everything else is the default.\n${lines.join('\n')}\n`;
}

/** In the default directory the agent's own defaults are right, and one that is there is the user's. */
export function writeAgentConfig(places: Places): void {
  if (places.directory === defaultDirectory || fs.existsSync(places.agentConfig)) return;
  fs.writeFileSync(places.agentConfig, renderAgentConfig(places));
}

/** The file of the configuration; absent where all is the default. */
export function findAgentConfig({ agentConfig }: Places): string | undefined {
  return fs.existsSync(agentConfig) ? agentConfig : undefined;
}

/** One that was edited since stays. */
export function removeAgentConfig(places: Places): void {
  const file = findAgentConfig(places);
  if (file === undefined || fs.readFileSync(file, 'utf8') !== renderAgentConfig(places)) return;
  fs.rmSync(file);
}
