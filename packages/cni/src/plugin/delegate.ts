import { CniError, errorCodes } from '../error.js';
import type { PluginExit } from '../exec/exec.js';
import { pluginFailure, pluginMisbehaviour } from '../exec/outcome.js';
import type { AttachmentRequest, GcRequest, StatusRequest } from '../request.js';
import { parseResult } from '../result/parse.js';
import type { AnyResult } from '../result/types.js';
import type { PluginContext } from './run.js';

type Delegable = AttachmentRequest | GcRequest | StatusRequest;

/**
 * ADD of another plugin, usually for addresses (specification, section 4): found in `CNI_PATH`, with this plugin's whole
 * environment and the very bytes of its configuration; its standard error goes to this plugin's.
 * @returns its result; one of an address plugin has no `interfaces` (section 5, "Delegated plugins").
 * @throws PluginError with its code, CniError code 5 when it is not found. Then DEL it: see {@link addWithIpam}.
 */
export async function delegateAdd(
  type: string,
  request: AttachmentRequest,
  context: PluginContext,
): Promise<AnyResult> {
  const exit = await delegate(type, 'ADD', request, context);
  try {
    return parseResult(JSON.parse(exit.stdout) ?? {}, request.config.cniVersion);
  } catch (error) {
    const problem = `its result is unusable: ${(error as Error).message}`;
    throw pluginMisbehaviour({ plugin: type, command: 'ADD' }, exit, problem, error);
  }
}

/** DEL of another plugin; a plugin must pass on each DEL it gets (section 4). @throws as {@link delegateAdd} */
export async function delegateDel(
  type: string,
  request: AttachmentRequest,
  context: PluginContext,
): Promise<void> {
  await delegate(type, 'DEL', request, context);
}

/** CHECK of another plugin (section 4). @throws as {@link delegateAdd} */
export async function delegateCheck(
  type: string,
  request: AttachmentRequest,
  context: PluginContext,
): Promise<void> {
  await delegate(type, 'CHECK', request, context);
}

/** GC of another plugin (section 4). @throws as {@link delegateAdd} */
export async function delegateGc(type: string, request: GcRequest, context: PluginContext): Promise<void> {
  await delegate(type, 'GC', request, context);
}

/** STATUS of another plugin (section 2, STATUS). @throws as {@link delegateAdd} */
export async function delegateStatus(
  type: string,
  request: StatusRequest,
  context: PluginContext,
): Promise<void> {
  await delegate(type, 'STATUS', request, context);
}

async function delegate(
  type: string,
  command: Delegable['command'],
  request: Delegable,
  { exec, env, stderr }: PluginContext,
): Promise<PluginExit> {
  const file = await exec.find(type, request.path);
  const own = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const exit = await exec.run({
    file,
    env: { ...Object.fromEntries(own), CNI_COMMAND: command },
    stdin: request.stdin,
  });
  if (exit.stderr !== '') stderr.write(exit.stderr);
  const failure = pluginFailure({ plugin: type, command }, exit);
  if (failure !== undefined) throw failure;
  return exit;
}

/** The address plugin of a configuration (`ipam.type`). @throws CniError code 7 when there is none. */
export function ipamType({ config }: Delegable): string {
  const type = config.ipam?.type ?? '';
  if (type !== '') return type;
  throw new CniError(errorCodes.invalidNetworkConfig, 'network configuration: ipam.type: is missing');
}

/**
 * ADD around addresses: asks the configuration's address plugin, then runs `configure` with its result. When either
 * fails the address plugin gets a DEL before the error goes on (section 4, "Delegated plugin execution procedure");
 * a failure of that DEL is written to standard error and does not replace the first.
 */
export async function addWithIpam(
  request: AttachmentRequest,
  context: PluginContext,
  configure: (addresses: AnyResult) => AnyResult | Promise<AnyResult>,
): Promise<AnyResult> {
  const type = ipamType(request);
  try {
    return await configure(await delegateAdd(type, request, context));
  } catch (error) {
    await delegateDel(type, request, context).catch((second: unknown) => {
      context.stderr.write(`giving addresses back failed: ${CniError.from(second).message}\n`);
    });
    throw error;
  }
}
