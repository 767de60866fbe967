export { type Agent, type AgentOptions, defaultAgentEntry, startAgent } from './agent.js';
export { type Arrivals, type Beat, startBeat, watchArrivals } from './arrivals.js';
export { bundledProgram } from './bundled-program.js';
export {
  type ClusterHost,
  type ClusterHosts,
  type ClusterHostsOptions,
  createClusterHosts,
} from './cluster.js';
export { createHostRuntime, networkOf } from './cni.js';
export {
  assertArrives,
  assertBlocked,
  assertPasses,
  assertRefused,
  type Attempt,
  type Hop,
} from './claims.js';
export { type Mount, mountsBelow } from '@podwire/linux';
export { createTestNamespace, openTestNamespace, processesIn, type TestNamespace } from './namespaces.js';
export { nativeProgram } from './native.js';
export { installPlugin, type PluginDirectories, podwirePlugin } from './plugin.js';
export { type PingReport, pings, type RunningPing, startPing } from './ping.js';
export {
  createPrivateHost,
  type HostOptions,
  type PrivateHost,
  worldAddresses,
  type WorldOptions,
} from './private-host.js';
export {
  CommandError,
  type Exit,
  type ProcessOptions,
  readThreadStates,
  run,
  type RunningProcess,
  type RunOptions,
  start,
  type WaitOptions,
} from './processes.js';
export { assertSameSnapshot, type DiffOptions, diffSnapshots } from './snapshot/diff.js';
export { untilSameSnapshot } from './snapshot/until-stable.js';
export { type Snapshot, type SnapshotOptions, takeSnapshot } from './snapshot/snapshot.js';
export { startSystemd, type Systemd } from './systemd/systemd.js';
export {
  type Answer,
  ask,
  type AskOptions,
  type EchoServer,
  type Endpoint,
  pour,
  type Protocol,
  reaches,
  serveEcho,
  serveSink,
  startStream,
  type Transfer,
  UnreachableError,
} from './traffic.js';
export { eventually, type Patience, until } from './until.js';
