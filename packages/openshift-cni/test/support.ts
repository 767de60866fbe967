import { environment, networkConfig } from './recorded.js';

export interface Changes {
  readonly without?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly config?: string;
}

/** The body of an ADD with a `hostVeth`, with changes. */
export function buildBody({ without, with: other = {}, config = networkConfig }: Changes = {}): string {
  const env = Object.entries({ ...environment, ...other }).filter(([name]) => name !== without);
  const body = {
    env: Object.fromEntries(env),
    config: Buffer.from(config).toString('base64'),
    hostVeth: 'veth1',
  };
  return JSON.stringify(body, (key, value: unknown) => (key === without ? undefined : value));
}
