/** Where a configuration came from, so that it can be read again while the agent runs. */
import { createHash } from 'node:crypto';
import { type ConfigSchema, parseConfig, readConfigText } from './load.js';
import { type AgentConfig, configSchema } from './schema.js';

export interface OriginalConfig {
  readonly config: AgentConfig;
  readonly origin: ConfigOrigin;
}

export interface ConfigOrigin {
  /** Undefined: the agent was started without a file, so all is default. */
  readonly file: string | undefined;
  /** Of the text, SHA-256 in hexadecimal. */
  readonly hash: string;
  /** Reads the file as it is now. @throws PodwireError CONFIG_INVALID */
  readonly readAgain: () => OriginalConfig;
}

/** As `loadConfig`, with what is needed to load it again. @throws PodwireError CONFIG_INVALID */
export function openConfig(file: string | undefined, schema: ConfigSchema = configSchema): OriginalConfig {
  const text = file === undefined ? '' : readConfigText(file);
  const hash = createHash('sha256').update(text).digest('hex');
  return {
    config: parseConfig(text, file, schema),
    origin: { file, hash, readAgain: () => openConfig(file, schema) },
  };
}
